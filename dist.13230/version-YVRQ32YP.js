import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  defineCommand,
  refuseWords
} from "./chunk-KAF7Q3BN.js";
import {
  escapeLine
} from "./chunk-OWKCFAAY.js";
import {
  connectionFlags
} from "./chunk-HWP2OOB6.js";
import {
  version
} from "./chunk-XWKYMXOX.js";
import {
  flag,
  oneOf,
  toggle
} from "./chunk-OWEQTUCH.js";
import "./chunk-K3AUPHIL.js";

// src/cli/version.ts
var flags = {
  client: toggle("client", "only that of this program; no server is asked"),
  output: flag("o,output", "FORMAT", "", oneOf(["", "json", "yaml"]), "json or yaml"),
  ...connectionFlags
}, versionCommand = defineCommand({
  name: "version",
  forms: ["[flags]"],
  about: "Shows the versions of this program and of the server.",
  examples: ["orchctl version", "orchctl version --client -o json"],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words);
    let versions = { clientVersion: clientVersion() };
    try {
      options.client || (versions.serverVersion = await serverVersion(context, options));
    } finally {
      context.out(await print(versions, options.output));
    }
  }
});
function clientVersion() {
  return {
    gitVersion: `v${version}`,
    compiler: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch}`
  };
}
async function serverVersion(context, options) {
  let { withConnection } = await import("./connect-WZA7A4RE.js");
  return await withConnection(context, options, ({ client }) => client.read("/version", { signal: context.signal }));
}
async function print(versions, output) {
  if (output !== "") {
    let { printDocument } = await import("./objects-AQ2S6KZC.js");
    return await printDocument(versions, output);
  }
  let lines = [`Client Version: ${versions.clientVersion.gitVersion}
`];
  return versions.serverVersion && lines.push(`Server Version: ${escapeLine(String(versions.serverVersion.gitVersion))}
`), lines.join("");
}
export {
  versionCommand
};
