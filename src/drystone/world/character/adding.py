"""add_character(): a figure comes into a world, which lets its muscles act in every step."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone.world.character.character import Character
    from drystone.world.character.clips.clip import Clip
    from drystone.world.character.figure import Figure
    from drystone.world.character.gains import Gains
    from drystone.world.character.torques import Torques


class WithCharacters:
    """Characters of a world."""

    _characters: list

    def add_character(  # its options are public keywords: more than 12 are fine
        self,
        figure: "Figure",
        clip: "Clip",
        root: str = "follow",
        gains: "Gains | None" = None,
        feedforward: bool = True,
        feedback: bool = True,
        ground: bool | None = None,
        torques: "Torques | None" = None,
        friction: float = 0.8,
        self_collide: bool = True,
        root_limit: tuple[float, float] = (200.0, 100.0),
        group: int = 1,
        mask: int = -1,
        name: str | None = None,
    ) -> "Character":
        """Put a figure into the world that follows a clip from now on; bones are "figure/bone".

        root          "follow": it moves as in the clip, whatever happens; "assisted": free, with
                      the residual force of inverse dynamics and feedback within root_limit;
                      "free": on its own feet
        gains         of the feedback; None: Gains()
        feedforward   whether the torques of inverse dynamics act
        feedback      whether joints are pulled to the clip
        ground        whether these torques count on forces of the ground on the feet; None: unless
                      the root follows, which then carries all
        torques       of the clip, found before; None: they are found now
        friction      of the skin, and of the soles in inverse dynamics
        self_collide  whether bones may touch each other: those that do not meet, nor overlap
                      anywhere in the clip
        root_limit    most force [N] and torque [N m] of the feedback on an assisted root
        group, mask   of all its bones, see add_body()
        """
        from drystone.world.character.character import place_character

        return place_character(
            self, figure, clip, root, gains, feedforward, feedback, ground, torques, friction,
            self_collide, root_limit, group, mask, name,
        )  # fmt: skip

    @property
    def characters(self) -> "tuple[Character, ...]":
        return tuple(self._characters)


def before_step(world: Any) -> None:
    for character in world._characters:
        character._before_step()


def after_step(world: Any, done: int) -> None:
    if done:
        for character in world._characters:
            character._after_step()
