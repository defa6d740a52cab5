"""How long a client may read nothing: a line whose words pile up is cut, and its viewer comes back."""

from __future__ import annotations

import asyncio
import socket
import struct

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""The line is reset: what the system still holds of it goes, too."""


class StallGuard(asyncio.Protocol):
    """For a protocol whose transport says when too much is left unread."""

    stalled_seconds = 30.0
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _stall_timer: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Cut it off here and now, whatever has not been sent."""
        line = self.transport.get_extra_info("socket")
        if line is not None and self.transport.get_write_buffer_size():
            # Else the system would go on for minutes to offer what nobody reads.
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_less()

    def resume_writing(self) -> None:
        self._stop_patience()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_patience()
        super().connection_lost(exc)

    def _wait_for_less(self) -> None:
        """Whoever reads slowly is still reading; only where nothing has gone since is it cut."""
        self._stop_patience()
        unread = self.transport.get_write_buffer_size()
        self._stall_timer = self.loop.call_later(self.stalled_seconds, self._look_again, unread)

    def _look_again(self, unread: int) -> None:
        if self.transport.get_write_buffer_size() < unread:
            self._wait_for_less()
        else:
            self.abort()

    def _stop_patience(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
