"""A terminal at which somebody types: programs find one there, and may ask."""
import os
import pty
import select
import subprocess
import time


class Terminal:
    def __init__(self, directory, **environment):
        self.directory, self.environment = directory, os.environ | environment

    def type(self, line, answer=None, seconds=None, within=120):
        """As what it ended, and what could be read.

        - answer: what is typed when it asks. seconds: after how long it is interrupted.
        """
        leader, end = pty.openpty()
        process = subprocess.Popen(
            ["setsid", "--ctty", "bash", "-o", "pipefail", "-c", line], stdin=end, stdout=end, stderr=end,
            env=self.environment, cwd=self.directory,
        )
        os.close(end)
        try:
            output = self.read(leader, answer, seconds and time.monotonic() + seconds, time.monotonic() + within)
            # Whoever is still about to end would be killed with its terminal.
            return process.wait(20), output.decode(errors="replace").replace("\r\n", "\n")
        finally:
            process.kill()
            os.close(leader)

    @staticmethod
    def read(leader, answer, interruption, deadline):
        output, news = b"", select.poll()
        news.register(leader, select.POLLIN)
        while time.monotonic() < deadline:
            if interruption and time.monotonic() > interruption:
                interruption = None
                os.write(leader, b"\x03")
            if not news.poll(200):
                continue
            try:
                output += os.read(leader, 65536)
            except OSError:
                return output
            if answer and output.rstrip().endswith(b":"):
                os.write(leader, answer.encode() + b"\n")
                answer = None
        raise AssertionError(f"It does not end: {output.decode(errors='replace')}")
