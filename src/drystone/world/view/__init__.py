"""The viewer in the browser, on viser (the `view` extra): server, scene, overlays, panels."""
