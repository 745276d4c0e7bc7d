"""An OAuth server on a real socket that is strict: PKCE is verified, codes and refresh tokens hold once, clients must be known."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT = "client-of-the-tests"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def jwt(claims):
    """An unsigned JSON Web Token with CLAIMS."""
    parts = [{"alg": "none"}, claims]
    coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in parts]
    return ".".join([*coded, "c2lnbmF0dXJl"])


class Server:
    """A server whose device polls answer DEVICE (error names, or "ok") in turn; tokens live for LIFE seconds."""

    def __init__(self, device=("ok",), life=3600, deny=False, claims=None, slow=0.0, interval=0, expires_in=60):
        self.device, self.life, self.deny, self.claims = list(device), life, deny, claims or {}
        self.slow, self.interval, self.expires_in = slow, interval, expires_in
        self.codes, self.challenges, self.refresh_tokens = {}, {}, set()
        self.issued, self.requests, self.lock, self.broken = [], [], threading.Lock(), 0

    def __enter__(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                server.page(self)

            def do_POST(self):
                data = self.rfile.read(int(self.headers.get("content-length") or 0))
                form = {k: v[0] for k, v in parse_qs(data.decode()).items()}
                status, body = server.post(urlsplit(self.path).path, form)
                text = json.dumps(body).encode() if not isinstance(body, bytes) else body
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def signin(self, flow, **more):
        """The `signin` map of a provider form for this server."""
        return {"flow": flow, "client_id": CLIENT, "authorize_url": self.url + "/authorize", "token_url": self.url + "/token",
                "device_url": self.url + "/device", "scopes": ["models", "offline"], **more}

    # What is asked

    def page(self, handler):
        """The page on which the user agrees: sends the browser back at once."""
        query = {k: v[0] for k, v in parse_qs(urlsplit(handler.path).query).items()}
        back = {"state": query.get("state", "")}
        if self.deny:
            back["error"] = "access_denied"
        elif query.get("code_challenge_method") != "S256" or query.get("client_id") != CLIENT:
            back["error"] = "invalid_request"
        else:
            code = f"code-{len(self.codes)}-0123456789"
            self.codes[code] = (query["code_challenge"], query["redirect_uri"])
            back["code"] = code
        handler.send_response(302)
        handler.send_header("location", query["redirect_uri"] + "?" + urlencode(back))
        handler.send_header("content-length", "0")
        handler.end_headers()

    def post(self, path, form):
        """What the endpoint PATH answers to FORM: a status and a body."""
        self.requests.append((path, form))
        if self.broken:
            self.broken -= 1
            return 503, b"<html>Bad day</html>"
        if form.get("client_id") != CLIENT:
            return 401, {"error": "invalid_client"}
        if path == "/device":
            self.challenges["device-1"] = form.get("code_challenge")
            return 200, {"device_code": "device-1", "user_code": "WXYZ-1234", "verification_uri": self.url + "/agree",
                         "interval": self.interval, "expires_in": self.expires_in}
        grant = form.get("grant_type")
        if grant == "authorization_code":
            return self.by_code(form)
        if grant == DEVICE_GRANT:
            return self.by_device(form)
        if grant == "refresh_token":
            return self.by_refresh(form)
        return 400, {"error": "unsupported_grant_type"}

    def by_code(self, form):
        challenge, redirect = self.codes.pop(form.get("code"), (None, None))
        if challenge is None or redirect != form.get("redirect_uri") or challenge != s256(form.get("code_verifier")):
            return 400, {"error": "invalid_grant"}
        return 200, self.token()

    def by_device(self, form):
        answer = self.device.pop(0) if len(self.device) > 1 else self.device[0]
        if answer != "ok":
            return 400, {"error": answer}
        if self.challenges.get(form.get("device_code")) != s256(form.get("code_verifier")):
            return 400, {"error": "invalid_grant"}
        return 200, self.token()

    def by_refresh(self, form):
        time.sleep(self.slow)
        with self.lock:
            if form.get("refresh_token") not in self.refresh_tokens:
                return 400, {"error": "invalid_grant", "error_description": "the token was used"}
            self.refresh_tokens.discard(form["refresh_token"])
        return 200, self.token()

    def token(self):
        """A new pair of tokens."""
        with self.lock:
            n = len(self.issued)
            access = jwt({**self.claims, "jti": f"access-{n}"}) if self.claims else f"access-{n}-0123456789abcdef"
            pair = {"access_token": access, "refresh_token": f"refresh-{n}-0123456789abcdef", "token_type": "Bearer",
                    "expires_in": self.life}
            self.refresh_tokens.add(pair["refresh_token"])
            self.issued.append(pair)
        return pair


def s256(verifier):
    """The PKCE challenge of VERIFIER."""
    digest = hashlib.sha256((verifier or "").encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
