"""What ends bench/soft-roce before its command has run."""


class Problem(Exception):
    """Something that the user should read, and the exit status that goes with it.

    unavailable: this machine lacks what a virtual machine needs (QEMU, a kernel), so nothing can be said about weir.
    """

    def __init__(self, text, status=1, unavailable=False):
        super().__init__(text)
        self.status = status
        self.unavailable = unavailable
