"""npm packages that a test pins by a lock file, installed into the build folder, once."""
import hashlib
import os
import shutil
import subprocess


def install(source, folder, names):
    """Copies the files `names` from `source` and runs npm ci, which only runs where the lock is another
    than last time."""
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "package-lock.json", *names):
        shutil.copy(os.path.join(source, name), folder)
    with open(os.path.join(folder, "package-lock.json"), "rb") as f:
        wanted = hashlib.sha256(f.read()).hexdigest()
    stamp = os.path.join(folder, "installed")
    if os.path.exists(stamp) and open(stamp, encoding="ascii").read() == wanted:
        return
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                   cwd=folder, check=True, stdin=subprocess.DEVNULL)
    with open(stamp, "w", encoding="ascii") as f:
        f.write(wanted)
