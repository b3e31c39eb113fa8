"""How tests start the processes of an MPI job."""
import functools
import subprocess


@functools.cache
def launcher(mpirun):
    """The words that come before "-n": any number of processes on any machine, also as root, and nothing spins."""
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True, timeout=60).stdout
    if "Open MPI" not in version and "OpenRTE" not in version:
        return [mpirun]
    return [mpirun, "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "--mca",
            "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1"]


def skip_without(program, mpirun):
    """Whoever runs the tests sees why nothing was tested."""
    if not program or not mpirun:
        print("skipped: this build has no MPI (Debian: libopenmpi-dev)")
        raise SystemExit(77)
