/** From flags to a client that talks to the server they name. Who connects closes. */
import { resolve } from 'node:path'
import type { OptionsOf } from '../base/flags.ts'
import { Client } from '../client/client.ts'
import { HttpTransport } from '../client/node/http-transport.ts'
import { readClientConfig } from '../client/node/kubeconfig.ts'
import { usualFiles } from '../client/node/kubeconfig-files.ts'
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
  const config = readClientConfig({
    files: configFiles(context, options.kubeconfig),
    context: options.context || undefined,
    server: options.server || undefined,
  })
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
