"""Certificates for tests of TLS, made by the program openssl in a folder of the test's own."""
import os
import subprocess

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def openssl(*arguments, folder=None):
    return subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True,
                          check=True, timeout=60).stdout


class Authority:
    """An authority in a folder: `ca.pem`, and the certificates that it signs."""

    def __init__(self, folder, name="ca"):
        self.folder = folder
        self.name = name
        self.path = os.path.join(folder, f"{name}.pem")
        openssl("req", "-x509", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj",
                f"/CN=test authority {name}", "-days", "30", folder=folder)

    def sign(self, name, alternatives="DNS:localhost,IP:127.0.0.1", days=30):
        """Makes NAME.pem and NAME.key; negative days: expired. Answers their paths."""
        extensions = os.path.join(self.folder, f"{name}.ext")
        with open(extensions, "w", encoding="ascii") as f:
            f.write(f"subjectAltName={alternatives}\n")
        openssl("req", *KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}",
                folder=self.folder)
        when = ["-days", str(days)]
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{self.name}.pem", "-CAkey",
                f"{self.name}.key", "-CAcreateserial", *when, "-extfile", extensions, "-out",
                f"{name}.pem", folder=self.folder)
        os.chmod(os.path.join(self.folder, f"{name}.key"), 0o600)
        return [os.path.join(self.folder, f"{name}.{kind}") for kind in ("pem", "key")]
