"""Back-analysis: fitting the materials of a study to rocks that fell."""
