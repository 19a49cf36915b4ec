/** From flags to a client that talks to the server they name. Whoever connects also closes. */
import { relative, resolve } from 'node:path'
import type { OptionsOf } from '../base/flags.ts'
import { Client } from '../client/client.ts'
import { HttpTransport } from '../client/node/http-transport.ts'
import { readClientConfig } from '../client/node/kubeconfig.ts'
import { localConfig, textIfThere, usualFiles } from '../client/node/kubeconfig-files.ts'
import { version } from '../model/version.ts'
import type { Context } from './command.ts'
import type { connectionFlags } from './connection-flags.ts'

export interface Connection {
  readonly client: Client
  /** The namespace to look in. */
  readonly namespace: string
}

/** The connection lasts as long as `use` does. */
export async function withConnection<T>(
  context: Context,
  options: OptionsOf<typeof connectionFlags>,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const files = configFiles(context, options.kubeconfig)
  const config = readClientConfig({
    files,
    context: options.context || undefined,
    server: options.server || undefined,
  })
  if (isByChance(context, options)) context.err(otherServerNote(context, files[0]!, config.transport.server))
  const transport = new HttpTransport(config.transport)
  try {
    const client = new Client(transport.send, { userAgent: `orchctl/${version}` })
    return await use({ client, namespace: options.namespace || config.namespace || 'default' })
  } finally {
    transport.close()
  }
}

/** The files of the client config: the one that is named, or else those that are usual. */
export function configFiles(context: Context, named: string): string[] {
  return named === '' ? usualFiles(context) : [resolve(context.directory, named)]
}

/** Whether only a config in the user's home directory says which server is asked. */
function isByChance({ env }: Context, { kubeconfig, context, server }: OptionsOf<typeof connectionFlags>): boolean {
  return kubeconfig === '' && context === '' && server === '' && !env.KUBECONFIG
}

/** Where a server was started in this directory, its user may well mean that one, and not the one that is asked. */
function otherServerNote({ directory }: Context, file: string, server: string): string {
  const local = localConfig(directory)
  if (local === undefined || local === file || textIfThere(local)?.includes(JSON.stringify(server))) return ''
  const [asked, other] = [relative(directory, file), relative(directory, local)]
  return `orchctl: asking ${server}, as ${asked.startsWith('..') ? file : asked} says; the server of this directory: --kubeconfig=${other}\n`
}
