"""A small client of the language server protocol: starts a server, sends, waits for the answer that is meant."""
import json
import os
import pathlib
import queue
import subprocess
import threading
import time
import urllib.parse

# What an editor says of itself: enough that the server sends versions, links and code actions with edits.
CAPABILITIES = {"textDocument": {
    "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "codeDescriptionSupport": True},
    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}},
    "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    "completion": {"completionItem": {"snippetSupport": True}}}}


def uri_of(path):
    return "file://" + urllib.parse.quote(str(path))


def path_of(uri):
    return pathlib.Path(urllib.parse.unquote(uri.removeprefix("file://")))


class Server:
    """One server over a folder. Used in a `with`, it is ended there whatever happened."""

    def __init__(self, command, folder, env=None):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / f"{pathlib.Path(command[0]).name}.log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stderr=log,
                                            stdout=subprocess.PIPE, cwd=folder, env={**os.environ, **(env or {})})
        self.messages = queue.Queue()
        self.next_id = 0
        self.versions = {}
        threading.Thread(target=self._read, daemon=True).start()
        self.info = self.request("initialize", {"processId": None, "rootUri": uri_of(folder),
                                                "capabilities": CAPABILITIES})
        self.notify("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _read(self):
        out = self.process.stdout
        while True:
            length = 0
            while (line := out.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length == 0:  # the end of the stream
                self.messages.put(None)
                return
            self.messages.put(json.loads(out.read(length)))

    def _send(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _wait(self, meant, seconds=120):
        end = time.monotonic() + seconds
        while True:
            try:
                message = self.messages.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no answer in {seconds} s:\n{self.log.read_text()[-3000:]}") from None
            assert message is not None, f"the server ended:\n{self.log.read_text()[-3000:]}"
            if meant(message):
                return message

    def notify(self, method, parameters):
        self._send({"method": method, "params": parameters})

    def request(self, method, parameters):
        """The result; an error that is answered fails."""
        self.next_id += 1
        self._send({"id": self.next_id, "method": method, "params": parameters})
        answer = self._wait(lambda message: message.get("id") == self.next_id and "method" not in message)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _diagnostics(self, path):
        meant = lambda message: (message.get("method") == "textDocument/publishDiagnostics"
                                 and path_of(message["params"]["uri"]) == path
                                 and message["params"].get("version") == self.versions[path])
        return self._wait(meant)["params"]["diagnostics"]

    def open(self, name):
        """Opens a file of the folder and returns its diagnostics."""
        path = self.folder / name
        self.versions[path] = 1
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri_of(path), "languageId": "cuda-cpp" if path.suffix == ".cu" else "cpp", "version": 1,
            "text": path.read_text()}})
        return self._diagnostics(path)

    def change(self, name, text):
        """Replaces the text of an open file, not on the disk, and returns its diagnostics.

        They are wanted at once; of itself clangd would wait for a pause in the typing.
        """
        path = self.folder / name
        self.versions[path] += 1
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri_of(path), "version": self.versions[path]},
            "contentChanges": [{"text": text}], "wantDiagnostics": True})
        return self._diagnostics(path)

    def ask(self, method, name, **parameters):
        """A request about a file: ask("hover", "a.cpp", position=...)."""
        return self.request(f"textDocument/{method}",
                            {"textDocument": {"uri": uri_of(self.folder / name)}, **parameters})

    def shut_down(self):
        """As an editor ends a server; returns the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(timeout=60)


def with_edits(text, edits):
    """The text after `edits`, a list of the protocol's TextEdits (positions in an ASCII text)."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(position):
        return starts[position["line"]] + position["character"]

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        text = text[:offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]):]
    return text
