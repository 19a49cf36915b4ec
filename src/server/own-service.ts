/**
 * The Service that the servers of a store are: `default/orch` (`default/kubernetes` under that profile) at the first
 * address of the range, whose port 443 leads to them, and the Endpoints and slices that list those that live. Made at
 * start, and kept: what is deleted or changed is back within seconds.
 */
import { networkInterfaces } from 'node:os'
import { pause } from '../base/abort.ts'
import { checkReachableAddress } from '../model/ip-address.ts'
import { vendorOf } from '../model/vendor.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { Store } from '../store/store.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { LiveServers, onlyServer, type Servers } from './live-servers.ts'
import type { ServerOptions } from './options.ts'
import { createMissing } from './own-writes.ts'
import { listServers } from './server-list.ts'
import { ownAddress } from './service-pools.ts'

export interface OwnServiceParts {
  readonly options: ServerOptions
  readonly catalogue: Catalogue
  readonly store: Store
  readonly log: Log
}

const everyMs = 5_000
/** How long a stop waits for the store. */
const farewellMs = 2_000

/**
 * Keeps the Service and its Endpoints, for a server that listens on this port: both are there when this resolves. What
 * prevents it is told and tried again, and is no reason not to start. Gives what ends it.
 */
export async function openOwnService(parts: OwnServiceParts, port: number): Promise<() => Promise<void>> {
  const servers = serversOf(parts, port)
  const ending = new AbortController()
  const turn = async () => {
    await Promise.all([createOwnService(parts, port), servers.renew().then(() => list(parts, servers))])
  }
  const guarded = () =>
    turn().catch((error: unknown) => {
      if (!ending.signal.aborted)
        parts.log.error('the Service that this server is could not be kept; it is tried again', errorFields(error))
    })
  await guarded()
  const running = keepTurning(guarded, ending.signal)
  return async () => {
    ending.abort()
    await running
    await atMost(
      farewellMs,
      servers.leave().then(() => list(parts, servers)),
    )
  }
}

async function keepTurning(turn: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs, signal)
    if (!signal.aborted) await turn()
  }
}

/** Resolves when the work is done or has failed, or this time has passed. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const over = new AbortController()
  await Promise.race([work.catch(() => {}), pause(ms, over.signal)])
  over.abort()
}

function serversOf({ options, store }: OwnServiceParts, port: number): Servers {
  const ip = reachableAddress(options)
  const own = ip === undefined ? undefined : { ip, port }
  return options.etcdServers.length > 0 ? new LiveServers(store, own) : onlyServer(own)
}

async function list({ options, catalogue }: OwnServiceParts, servers: Servers): Promise<void> {
  await listServers(catalogue, vendorOf(options.profile), await servers.all())
}

async function createOwnService({ options, catalogue }: OwnServiceParts, port: number): Promise<void> {
  const services = catalogue.stored('core', 'services')
  if (services === undefined) return
  const { apiService } = vendorOf(options.profile)
  const labels = { component: 'apiserver', provider: apiService }
  const ports = [{ name: 'https', port: 443, targetPort: port }]
  const spec = { clusterIP: ownAddress(options), ports }
  await createMissing(services, { namespace: 'default', name: apiService }, { metadata: { labels }, spec })
}

/** Where others reach this server: as it is told, where it listens, or at the first address of this host. */
function reachableAddress({ advertiseAddress, bindAddress }: ServerOptions): string | undefined {
  const isReachable = (ip: string) => checkReachableAddress(ip).length === 0
  if (advertiseAddress !== '') return isReachable(advertiseAddress) ? advertiseAddress : undefined
  if (isReachable(bindAddress)) return bindAddress
  if (bindAddress !== '0.0.0.0' && bindAddress !== '::') return undefined
  const family = bindAddress === '::' ? undefined : 'IPv4'
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return addresses.find((each) => (family ?? each.family) === each.family && isReachable(each.address))?.address
}
