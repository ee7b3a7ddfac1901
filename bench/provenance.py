"""Which program makes the lines of a page, and whether a reader can get it: its commit must be published.

Published is a commit that main (or origin/main) contains. Where there is neither, as in a clone for CI of another
branch, HEAD takes main's place: it is the only history that such a reader has. A program from an archive without git
cannot be judged and is refused.
"""

import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
BRANCHES = ("refs/heads/main", "refs/remotes/origin/main")


def git(*words, top=TOP):
    """(exit status, output) of git in the repository; status 128 where there is none."""
    try:
        done = subprocess.run(["git", "-c", f"safe.directory={top}", "-C", str(top), *words], capture_output=True,
                              text=True, check=False)
    except FileNotFoundError:
        return 128, ""
    return done.returncode, done.stdout.strip()


def is_repository(top=TOP):
    """False in an archive, also in one that lies inside another repository."""
    return (top / ".git").exists() and git("rev-parse", "HEAD", top=top)[0] == 0


def is_shallow(top=TOP):
    return git("rev-parse", "--is-shallow-repository", top=top)[1] == "true"


def published_heads(top=TOP):
    return [name for name in BRANCHES if git("rev-parse", "--verify", "--quiet", name, top=top)[0] == 0] or ["HEAD"]


def is_published(commit, top=TOP):
    return any(git("merge-base", "--is-ancestor", commit, head, top=top)[0] == 0 for head in published_heads(top))


def program_version(weir):
    """(version, commit) as `weir --version` prints them; ends the program if there is no such program."""
    try:
        text = subprocess.run([weir, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{weir}: {error}; build it, or name another with --weir")
    version = re.search(r"^weir (\S+)", text, re.MULTILINE)
    commit = re.search(r"^commit +(\S+)", text, re.MULTILINE)
    return (version[1] if version else "unknown"), (commit[1] if commit else "unknown")


def obstacle(version, commit, top=TOP):
    """Why lines of this program cannot be replayed by others; "" if they can."""
    if not is_repository(top):
        return f"{top} is no git repository, so it is not known whether commit {commit} is published"
    if version.endswith(".dirty"):
        return f"weir {version} was built from changed files: commit them and build it again"
    changed = git("status", "--porcelain", "--", "bench", "results/**/*.py", "results/**/*.toml", top=top)[1]
    if changed:
        return f"bench/, or a study or .toml of results/, has changes that are not committed:\n{changed}"
    if not is_published(commit, top):
        more = "; this clone is shallow, `git fetch --unshallow` gets the rest" if is_shallow(top) else ""
        return (f"weir {version}: {' or '.join(published_heads(top))} does not contain its commit {commit}: publish it "
                f"first{more}")
    return ""


def add_option(parser):
    parser.add_argument("--allow-unpublished", action="store_true",
                        help="run with a program whose commit is not on main; --out must then be outside of results/")


def require(weir, out, allow_unpublished):
    """Ends the program if what this weir makes must not be stored in the directory `out`."""
    reason = obstacle(*program_version(weir))
    if not reason:
        return
    inside = (TOP / "results").resolve() in (pathlib.Path(out).resolve(), *pathlib.Path(out).resolve().parents)
    if not allow_unpublished:
        sys.exit(f"{reason}\nFor a trial: --allow-unpublished, with --out outside of results/")
    if inside:
        sys.exit(f"{reason}\n--allow-unpublished cannot write to {out}: with --out, name a directory outside of "
                 "results/")
    print(f"a trial only: {reason}", file=sys.stderr)
