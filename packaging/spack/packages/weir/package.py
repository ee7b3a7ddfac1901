"""Builds weir from the clone that this file lies in, by Spack 0.2x or 1."""

import os

try:
    # Since Spack 1 the build systems come with the builtin packages.
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass

from spack.package import *


class Weir(CMakePackage):
    """Many-to-many benchmark for networks, over MPI: producers generate data at a fixed rate, consumers take it and are
    sometimes busy, and a scheduler grants every transfer. Was every set of data gone before the next one was generated,
    and if not, who or what held it up?"""

    # What is committed in the clone. In a repository of recipes elsewhere: the address that it was cloned from.
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("Apache-2.0")

    version("main", branch="main")

    variant("report", default=True, description="Python libraries for weir-report and its sisters")
    variant("figures", default=True, when="+report", description="weir-report --figures writes files")
    variant("rdma", default=True, description="The MTU of RDMA packets in weir check")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    # 3.1 in fact, but openmpi says of every version of it that it provides up to 3.0 as well.
    depends_on("mpi@3:")
    depends_on("cli11@2.1.2:")
    depends_on("fmt@9.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3.2:")
    depends_on("xxhash@0.8.1:")
    depends_on("openssl@1.1:")
    depends_on("rdma-core", when="+rdma")

    # Manual pages and completions are written by it; the reports are.
    depends_on("python@3.9:", type=("build", "run"))
    with when("+report"):
        depends_on("py-numpy@1.23:", type="run")
        depends_on("py-scipy@1.8:", type="run")
        depends_on("py-jinja2@3:", type="run")
        depends_on("py-matplotlib@3.6:", type="run", when="+figures")

    # C++20 as weir uses it; the oldest that was tried is 12.
    conflicts("%gcc@:10")

    generator("ninja")

    def cmake_args(self):
        # Each library in one compilation: a third of the time.
        return [self.define("WEIR_TESTS", False), self.define("CMAKE_UNITY_BUILD", True)]

    def test_version(self):
        """weir says what it is"""
        weir = which(self.prefix.bin.weir)
        said = weir("--version", output=str.split, error=str.split)
        assert said.startswith("weir "), said

    def test_simulation(self):
        """a simulated run keeps its books"""
        weir = which(self.prefix.bin.weir)
        weir("simulate", "--duration", "2s", "--quiet", "--out", "run", "--require", "sustained")
