"""Windows that nobody sees: VTK draws layers of meshes, and colours and depths are read back."""

from typing import Any

import numpy as np

from drystone.errors import DrystoneError


class Window:
    """One off-screen window; of its layers one is drawn at a time, without any light."""

    def __init__(self, wide: int, high: int) -> None:
        self._pv = pyvista()
        self.size = wide, high
        self._plotter = self._pv.Plotter(off_screen=True, window_size=(wide, high))
        self._plotter.disable_anti_aliasing()
        self._plotter.ren_win.SetMultiSamples(0)
        self._layers: dict[str, list] = {}
        self._opened = False

    def add(self, layer: str, mesh: Any, **how: Any) -> None:
        """Draw `mesh` in `layer`; `how` as Plotter.add_mesh() has it."""
        actor = self._plotter.add_mesh(
            mesh, lighting=False, show_scalar_bar=False, reset_camera=False, **how
        )
        self._layers.setdefault(layer, []).append(actor)

    def has(self, layer: str) -> bool:
        return layer in self._layers

    def look(self, eye, target, up, angle: float | None, half: float, clip) -> None:
        """A camera of that angle top to bottom [degrees]; None: parallel, and so high by half."""
        camera = self._plotter.camera
        camera.position, camera.focal_point, camera.up = tuple(eye), tuple(target), tuple(up)
        camera.parallel_projection = angle is None
        if angle is None:
            camera.parallel_scale = half
        else:
            camera.view_angle = angle
        camera.clipping_range = tuple(clip)

    def draw(self, layer: str) -> None:
        for name, actors in self._layers.items():
            for actor in actors:
                actor.SetVisibility(name == layer)
        if not self._opened:
            clip = self._plotter.camera.clipping_range
            self._plotter.show(auto_close=False, interactive=False)
            self._plotter.camera.clipping_range = clip
            self._opened = True
        self._plotter.ren_win.Render()

    def colours(self) -> np.ndarray:
        """(high, wide, 3) of what was drawn last, the lowest row first."""
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray

        wide, high = self.size
        read = vtkUnsignedCharArray()
        self._plotter.ren_win.GetPixelData(0, 0, wide - 1, high - 1, 0, read, 0)
        return vtk_to_numpy(read).reshape(high, wide, 3)

    def depths(self) -> np.ndarray:
        """(high, wide) from 0, the near plane of clipping, to 1, the far one and nothing."""
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkCommonCore import vtkFloatArray

        wide, high = self.size
        read = vtkFloatArray()
        self._plotter.ren_win.GetZbufferData(0, 0, wide - 1, high - 1, read)
        return vtk_to_numpy(read).reshape(high, wide)

    def close(self) -> None:
        self._plotter.close()


def pyvista() -> Any:
    try:
        import pyvista
        from vtkmodules.vtkCommonCore import vtkLogger
    except ImportError:
        raise DrystoneError(
            "Pictures need pyvista. Install it with: pip install 'drystone[render]'"
        ) from None
    # Without a display VTK tries X first and complains before it renders off screen.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    return pyvista
