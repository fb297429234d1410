"""Noticing that somebody else destroys a buffer or a device that is in use here.

wgpu-native ends the process when it is given a destroyed buffer or a lost device to submit, and wgpu-py keeps no
record of either. So ``destroy`` of an object that is shared with other code first tells those who use it, under their
lock: the object cannot go away between a check and a submission.
"""

from __future__ import annotations

import weakref
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from webgpu_kernels.device.seam import Wgpu


class User(Protocol):
    """Whoever uses a shared object."""

    def lose(self) -> None:
        """Stop using it: it is about to be destroyed."""


_Users: TypeAlias = "weakref.WeakKeyDictionary[User, AbstractContextManager[object]]"

_users_of: weakref.WeakKeyDictionary[Wgpu, _Users] = weakref.WeakKeyDictionary()


def watch(target: Wgpu, user: User, lock: AbstractContextManager[object]) -> None:
    """Tell a user before an object is destroyed.

    Args:
        target: wgpu's buffer or device.
        user: who uses it; held weakly, told with ``lose()``.
        lock: held from before the user is told until the object is destroyed.

    Source: GPU_NOTES, "Traps".
    """
    users = _users_of.get(target)
    if users is None:
        users = _users_of[target] = weakref.WeakKeyDictionary()
        _intercept(target, users)
    users[user] = lock


def _intercept(target: Wgpu, users: _Users) -> None:
    """Shadow ``target.destroy``; it refers to the target weakly, so the target is freed as early as before."""
    reference = weakref.ref(target)
    original = type(target).destroy

    def destroy() -> None:
        with ExitStack() as held:
            for user, lock in list(users.items()):
                held.enter_context(lock)
                user.lose()
            original(reference())

    target.destroy = destroy
