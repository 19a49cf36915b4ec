/** The loop that creates KWOK's kinds. The simulation thread watches the objects of these kinds. */
import { vendorOf } from '../../api/model/vendor.ts'
import { Client } from '../../client/requests/client.ts'
import type { Transport } from '../../client/requests/transport.ts'
import type { ControlLoop } from '../../cluster/controllers/control-loop.ts'
import { installKwokKindsLoop } from '../../cluster/nodes/kwok/install-kinds.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import { slicedJson } from '../assembly/sliced-json.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'
import { sharedReaderUser } from './shared-reader.ts'

export interface KwokKinds {
  /** Resolves when the kinds are served. */
  readonly installed: Promise<void>
  readonly loop: ControlLoop
}

/** Returns the loop. `within` wraps a transport so that the loop's requests end with the leader's term. */
export function kwokKinds(
  server: Pick<ApiServer, 'transport' | 'clock'>,
  { profile }: ServerOptions & UpOptions,
  within: (transport: Transport) => Transport,
): KwokKinds {
  const vendor = vendorOf(profile)
  const { promise: installed, resolve: onInstalled } = Promise.withResolvers<void>()
  const client = new Client(within(server.transport(sharedReaderUser)), {
    userAgent: sharedReaderUser.name,
    form: slicedJson,
  })
  return {
    installed,
    loop: { name: 'kwok-kinds', make: () => installKwokKindsLoop({ client, vendor, onInstalled }) },
  }
}
