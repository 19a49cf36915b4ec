/** Implements `orchctl version`. */

import type { JsonObject } from '../../../api/json/json.ts'
import { version } from '../../../api/model/version.ts'
import { minorOf, newestVersion, oldestVersion } from '../../../api/versions/emulated-version.ts'
import { flag, type OptionsOf, oneOf, toggle } from '../../../base/flags/flags.ts'
import type { Client } from '../../../client/requests/client.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand, refuseWords } from '../program/command.ts'

const flags = {
  client: toggle({ name: 'client', help: 'print only the client version, without contacting the server' }),
  short: toggle({ name: 'short', help: 'print only the version numbers; this is the default without -o' }),
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    read: oneOf(['', 'json', 'yaml']),
    help: 'output format: json or yaml',
  }),
  ...connectionFlags,
}

export const versionCommand = defineCommand({
  name: 'version',
  forms: ['[flags]'],
  about: 'Print the client and server versions.',
  examples: ['orchctl version', 'orchctl version --client -o json'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    const versions: Versions = { clientVersion: clientVersion() }
    try {
      if (!options.client) versions.serverVersion = await serverVersion(context, options)
    } finally {
      // Prints the client version even if the server is unreachable.
      context.out(await print(versions, options.output))
    }
    const warning = versions.serverVersion && skewWarning(versions.serverVersion)
    if (warning !== undefined) context.err(`${warning}\n`)
  },
})

/** Maximum number of minor versions between a server and the versions that this program knows, as in kubectl. */
const maxSkew = 1

/** Returns kubectl's warning if the server is too old or too new for this program. */
export function skewWarning({ major, minor }: JsonObject): string | undefined {
  // `parseInt` ignores a suffix, as in `29+`.
  const number = Number.parseInt(String(minor), 10)
  if (Number.isNaN(number)) return undefined
  const isSupported =
    String(major) === '1' && number >= minorOf(oldestVersion) - maxSkew && number <= minorOf(newestVersion) + maxSkew
  if (isSupported) return undefined
  const server = escapeLine(`${major}.${minor}`)
  return `WARNING: version difference between client (${oldestVersion} to ${newestVersion}) and server (${server}) exceeds the supported minor version skew of +/-${maxSkew}`
}

interface Versions extends JsonObject {
  clientVersion: JsonObject
  serverVersion?: JsonObject
}

function clientVersion(): JsonObject {
  return {
    gitVersion: `v${version}`,
    compiler: `node ${process.versions.node}`,
    platform: `${process.platform}/${process.arch}`,
  }
}

async function serverVersion(
  context: Parameters<typeof versionCommand.run>[0],
  options: OptionsOf<typeof flags>,
): Promise<JsonObject> {
  const { withConnection } = await import('../connection/connect.ts')
  const ask = ({ client }: { client: Client }) => client.read<JsonObject>('/version', { signal: context.signal })
  return await withConnection(context, options, ask)
}

async function print(versions: Versions, output: '' | 'json' | 'yaml'): Promise<string> {
  if (output !== '') {
    const { printDocument } = await import('../printers/objects.ts')
    return await printDocument(versions, output)
  }
  const lines = [`Client Version: ${versions.clientVersion.gitVersion}\n`]
  if (versions.serverVersion) lines.push(`Server Version: ${escapeLine(String(versions.serverVersion.gitVersion))}\n`)
  return lines.join('')
}
