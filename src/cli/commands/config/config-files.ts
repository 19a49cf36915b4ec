/** The client config that a command of `orchctl config` reads: as every other command would find it. */
import { type ConfigContexts, readContexts } from '../../../client/node/kubeconfig.ts'
import type { Context } from '../../command.ts'
import { configFiles } from '../../connect.ts'
import { connectionFlags } from '../../connection-flags.ts'

export const configFlags = { kubeconfig: connectionFlags.kubeconfig, context: connectionFlags.context }

export function readConfig(context: Context, options: { kubeconfig: string; context: string }): ConfigContexts {
  return readContexts({ files: configFiles(context, options.kubeconfig), context: options.context || undefined })
}
