/**
 * Maintains the Service for the API servers of a store: `default/orch`, or `default/kubernetes` in the Kubernetes
 * profile. The Service has the first cluster IP of the range and forwards port 443 to the servers. Its Endpoints and
 * EndpointSlices list the live servers. The objects are created at startup, and manual changes are reverted within
 * seconds. A stopping server removes its own address.
 */
import { networkInterfaces } from 'node:os'
import { checkReachableAddress } from '../../api/model/ip-address.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { Store } from '../../storage/store/store.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { LiveServers, onlyServer, type Servers } from './live-servers.ts'
import { createMissing } from './own-objects.ts'
import { listServers } from './server-list.ts'

export interface OwnServiceParts {
  readonly catalogue: Catalogue
  readonly store: Store
  /** Whether other servers can use the same store. If so, all of them must be listed. */
  readonly sharedStore: boolean
  /** The cluster IP that the Service should have. */
  readonly clusterIP: string
  /** The port on which this server listens. */
  readonly port: number
  readonly addresses: ServerAddresses
}

export interface ServerAddresses {
  /** The value of `--advertise-address`. Empty if the flag is not set. */
  readonly advertiseAddress: string
  readonly bindAddress: string
}

const periodMs = 5_000

/** Returns a loop that maintains the Service of the API servers and its Endpoints. */
export function ownServiceLoop(parts: OwnServiceParts): Loop {
  const servers = serversOf(parts)
  return {
    name: 'own-service',
    sources: [every(periodMs, parts.catalogue.vendor.apiService)],
    backoff: { firstMs: 500, longestMs: periodMs },
    reconcile: async (name) => {
      await Promise.all([createService(parts, name), servers.renew().then(() => list(parts, servers))])
      return 'done'
    },
    onStop: async () => {
      await servers.leave()
      await list(parts, servers)
    },
  }
}

function serversOf({ store, sharedStore, port, addresses }: OwnServiceParts): Servers {
  const ip = reachableAddress(addresses)
  const own = ip === undefined ? undefined : { ip, port }
  return sharedStore ? new LiveServers(store, own) : onlyServer(own)
}

async function list({ catalogue }: OwnServiceParts, servers: Servers): Promise<void> {
  await listServers(catalogue, catalogue.vendor, await servers.all())
}

async function createService({ catalogue, clusterIP, port }: OwnServiceParts, name: string): Promise<void> {
  const services = catalogue.stored('core', 'services')
  if (services === undefined) return
  const labels = { component: 'apiserver', provider: name }
  const ports = [{ name: 'https', port: 443, targetPort: port }]
  await createMissing(services, { namespace: 'default', name }, { metadata: { labels }, spec: { clusterIP, ports } })
}

/**
 * Returns an address that other hosts can use to reach this server: the advertised address, the bind address or the
 * first address of this host. Undefined if there is no such address.
 */
function reachableAddress({ advertiseAddress, bindAddress }: ServerAddresses): string | undefined {
  const isReachable = (ip: string) => checkReachableAddress(ip).length === 0
  if (advertiseAddress !== '') return isReachable(advertiseAddress) ? advertiseAddress : undefined
  if (isReachable(bindAddress)) return bindAddress
  if (bindAddress !== '0.0.0.0' && bindAddress !== '::') return undefined
  const family = bindAddress === '::' ? undefined : 'IPv4'
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return addresses.find((each) => (family ?? each.family) === each.family && isReachable(each.address))?.address
}
