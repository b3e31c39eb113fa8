#!/usr/bin/env python3
"""scripts/setup_cuda.sh finds a toolkit, installs one as Python packages, or says in one line what to install."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/setup_cuda.sh"
# What the script needs beside what a test puts there.
PROGRAMS = ("bash", "dirname", "basename", "sed", "grep", "awk", "head", "rm", "ln", "mv", "mkdir", "id", "env", "chmod")
# A pip that lays out what NVIDIA's packages do.
PIP = """#!/usr/bin/env bash
[ "$PIP_FAILS" = yes ] && { echo "ERROR: no network" >&2; exit 1; }
while [ "$#" -gt 0 ]; do [ "$1" = --target ] && target=$2; case $1 in nvidia-*) echo "$1" >>"$ASKED" ;; esac; shift; done
mkdir -p "$target/nvidia/cu13/bin" "$target/nvidia/cu13/lib"
for file in bin/nvcc lib/libcudart.so.13 lib/libcudart_static.a; do echo >"$target/nvidia/cu13/$file"; done
chmod +x "$target/nvidia/cu13/bin/nvcc"
"""


class SetupCuda(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        for program in PROGRAMS:
            found = next(pathlib.Path(part, program) for part in os.environ["PATH"].split(":") if pathlib.Path(part, program).exists())
            (self.folder / "bin" / program).symlink_to(found)
        self.program("python3", PIP)

    def program(self, name, text, where="bin"):
        path = self.folder / where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def setup_cuda(self, **variables):
        """Away from /usr/local/cuda, where a machine's own toolkit may be."""
        script = self.folder / "scripts/setup_cuda.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text(SCRIPT.read_text(encoding="utf-8").replace("/usr/local/cuda/", f"{self.folder}/none/"), encoding="utf-8")
        return subprocess.run(["bash", script, self.folder / "toolkit"], capture_output=True, text=True, check=False,
                              env={"PATH": str(self.folder / "bin"), "ASKED": str(self.folder / "asked"), **variables})

    def nvcc(self, release, where="bin"):
        self.program("nvcc", f"#!/usr/bin/env bash\necho 'Cuda compilation tools, release {release}, V{release}.1'\n", where)

    def test_a_toolkit_that_is_there_is_taken(self):
        self.nvcc("12.4")
        done = self.setup_cuda()
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, f"-DPLUMBLINE_NVCC={self.folder}/bin/nvcc", ""))

    def test_one_of_cuda_path_is_taken_before_an_old_one(self):
        self.nvcc("11.8")
        self.nvcc("13.0", "other/bin")
        done = self.setup_cuda(CUDA_PATH=str(self.folder / "other"))
        self.assertEqual(done.stdout.strip(), f"-DPLUMBLINE_NVCC={self.folder}/other/bin/nvcc")

    def test_without_one_python_packages_are_installed_once(self):
        self.nvcc("11.8")  # Debian 12's
        toolkit = self.folder / "toolkit"
        for said in ("installing NVIDIA's Python packages", ""):
            done = self.setup_cuda()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.strip(), f"-DPLUMBLINE_NVCC={toolkit}/nvidia/cu13/bin/nvcc -DPLUMBLINE_CUDA_PACKAGES={toolkit}")
            self.assertTrue(said in done.stderr if said else not done.stderr, done.stderr)
        lib = toolkit / "nvidia/cu13/lib64"
        self.assertEqual((lib / "libcudart.so").resolve(), (lib / "libcudart.so.13").resolve())
        asked = (self.folder / "asked").read_text(encoding="utf-8")
        for package in ("nvcc", "crt", "runtime", "cccl"):
            self.assertEqual(asked.count(f"nvidia-cuda-{package}==13.0."), 1)
        for package in ("cublas", "cudnn-cu13", "nccl-cu13", "cudnn-frontend"):
            self.assertIn(f"nvidia-{package}==", asked)

    def test_where_none_can_be_installed_one_line_says_what_to_do(self):
        done = self.setup_cuda(PIP_FAILS="yes")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("expected apt-get install nvidia-cuda-toolkit", done.stderr.splitlines()[-1])
        self.assertFalse((self.folder / "toolkit.part").exists())

    def test_an_old_driver_gets_no_cuda_13(self):
        self.program("nvidia-smi", "#!/usr/bin/env bash\necho 550.54.15\n")
        done = self.setup_cuda()
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (3, "", 1))
        self.assertIn("driver of 580 or later (here: 550)", done.stderr)

    def test_the_distribution_s_is_installed_where_it_is_new_enough(self):
        self.program("apt-cache", "#!/usr/bin/env bash\necho ' nvidia-cuda-toolkit | 12.4.127~12.4.1-3 | http://x'\n")
        self.program("sudo", "#!/usr/bin/env bash\nshift\n\"$@\"\n")
        self.program("true", "#!/usr/bin/env bash\n")
        self.program("apt-get", f"#!/usr/bin/env bash\nln -s {self.folder}/new {self.folder}/bin/nvcc\n")
        self.nvcc("12.4", "apt")
        (self.folder / "new").symlink_to(self.folder / "apt/nvcc")
        done = self.setup_cuda()
        self.assertEqual((done.returncode, done.stdout.strip()), (0, f"-DPLUMBLINE_NVCC={self.folder}/bin/nvcc"))
        self.assertIn("installing nvidia-cuda-toolkit", done.stderr)


if __name__ == "__main__":
    unittest.main()
