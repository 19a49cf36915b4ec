import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  UsageError,
  flag,
  text
} from "./chunk-OWEQTUCH.js";

// src/cli/connection-flags.ts
var connectionFlags = {
  kubeconfig: flag(
    "kubeconfig",
    "FILE",
    "",
    text,
    "the client config to use; else $KUBECONFIG, ~/.kube/config, ./.orch/admin.kubeconfig"
  ),
  context: flag("context", "NAME", "", text, "the context of the client config to use; else its current one"),
  server: flag("s,server", "URL", "", readServer, "the server to talk to; else that of the context"),
  namespace: flag("n,namespace", "NAME", "", text, "the namespace to look in; else that of the context, else default")
};
function readServer(value) {
  if (value !== "" && !(URL.canParse(value) && new URL(value).protocol === "https:"))
    throw new UsageError(`${JSON.stringify(value)} is not an address such as https://127.0.0.1:6443`);
  return value;
}

export {
  connectionFlags
};
