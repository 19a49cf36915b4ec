/**
 * The loops that make KWOK's kinds available along with simulated nodes. They create the kinds and report unsupported
 * objects.
 */
import { vendorOf } from '../../api/model/vendor.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { Client } from '../../client/requests/client.ts'
import type { Transport } from '../../client/requests/transport.ts'
import type { ControlLoop } from '../../cluster/controllers/control-loop.ts'
import { installKwokKindsLoop } from '../../cluster/nodes/kwok/install-kinds.ts'
import { reportKwokObjectsLoops } from '../../cluster/nodes/kwok/report-objects.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'
import { sharedReaderUser } from './shared-reader.ts'

export interface KwokKinds {
  /** Resolves when the kinds are served. */
  readonly installed: Promise<void>
  readonly loops: readonly ControlLoop[]
}

/** Returns the loops. `within` wraps a transport so that their requests end with the leader's term. */
export function kwokKinds(
  server: Pick<ApiServer, 'transport' | 'clock'>,
  { profile, simulationLogs }: ServerOptions & UpOptions,
  within: (transport: Transport) => Transport,
): KwokKinds {
  const vendor = vendorOf(profile)
  const { promise: installed, resolve: onInstalled } = Promise.withResolvers<void>()
  const client = new Client(within(server.transport(sharedReaderUser)), { userAgent: sharedReaderUser.name })
  return {
    installed,
    loops: [
      { name: 'kwok-kinds', make: () => installKwokKindsLoop({ client, vendor, onInstalled }) },
      {
        name: 'kwok-objects',
        make: ({ clock, log }) => {
          const onError = (error: unknown) => log.warn('cannot watch KWOK objects', errorFields(error))
          return reportKwokObjectsLoops({ client, clock, installed, readsLogs: simulationLogs !== '', onError })
        },
      },
    ],
  }
}
