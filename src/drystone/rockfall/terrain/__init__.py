"""The slope: triangles from elevation models, materials, regions, soils."""
