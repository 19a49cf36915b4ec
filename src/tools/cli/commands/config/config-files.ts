/** Reads the kubeconfig for `orchctl config` from the same files as all other commands. */
import { parserFor } from '../../../../client/node/config-parser.ts'
import { type ConfigContexts, readContexts } from '../../../../client/node/kubeconfig.ts'
import { configFiles } from '../../connection/connect.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Context } from '../../program/command.ts'

export const configFlags = { kubeconfig: connectionFlags.kubeconfig, context: connectionFlags.context }

export async function readConfig(
  context: Context,
  options: { kubeconfig: string; context: string },
): Promise<ConfigContexts> {
  const files = configFiles(context, options.kubeconfig)
  return readContexts({ files, parse: await parserFor(files), context: options.context || undefined })
}
