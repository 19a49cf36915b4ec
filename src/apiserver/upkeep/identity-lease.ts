/**
 * Maintains the Lease `kube-system/apiserver-<hash>` of this API server. The server renews its Lease every ten seconds,
 * so that clients can see which API servers use a store and whether they are alive. The Lease of a stopped server
 * remains until it expires, and another server then deletes it.
 *
 * The hash covers the host name, bind address and port. A restarted server therefore keeps its Lease, and two servers
 * on one host have different Leases.
 */
import { createHash, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Lease } from '../../api/kinds/coordination/lease.ts'
import { checkLabelValue } from '../../api/model/names.ts'
import { vendorKey } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { deleteObject } from '../registry/verbs/delete.ts'
import { changeFields, contextOf, createMissing, getCached, ignoreNotFound } from './own-objects.ts'

const namespace = 'kube-system'
/** The label that marks the Lease of an API server. Clients of Kubernetes expect this value. */
const component = 'kube-apiserver'
const renewalMs = 10_000
const lifetimeSeconds = 3600
const collectionMs = 3_600_000

/** The addresses that identify this server in its Lease, and a clock for renewal times. */
export interface IdentityParts {
  readonly bindAddress: string
  readonly port: number
  readonly clock: Clock
}

/** Returns a loop that renews the Lease of this server and deletes expired Leases of other servers. */
export function identityLeaseLoop(catalogue: Catalogue, { bindAddress, port, clock }: IdentityParts): Loop {
  const host = hostname()
  const name = `apiserver-${shortHash([host, bindAddress, port].join())}`
  const holderIdentity = `${name}_${randomUUID()}`
  const label = vendorKey(catalogue.vendor, 'identity', 'apiserver')
  const hostLabel = checkLabelValue(host).length === 0 ? { [vendorKey(catalogue.vendor, 'hostname')]: host } : {}
  const labels = { [label]: component, ...hostLabel }
  const renew = async (leases: Resource) => {
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
    const spec = { holderIdentity, leaseDurationSeconds: lifetimeSeconds, renewTime }
    await createMissing(leases, { namespace, name }, { metadata: { labels }, spec })
    await changeFields(leases, { namespace, name }, { spec })
  }
  return {
    name: 'identity-lease',
    sources: [every(renewalMs, 'renew'), every(collectionMs, 'collect')],
    reconcile: async (key) => {
      const leases = catalogue.stored('coordination', 'leases')
      if (leases !== undefined) await (key === 'renew' ? renew(leases) : collectExpired(leases, label, clock.now()))
      return 'done'
    },
  }
}

/** Returns a hash of 26 lower-case letters and digits. */
function shortHash(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  return BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .padStart(26, '0')
}

async function collectExpired(leases: Resource, label: string, now: number): Promise<void> {
  const names = [...leases.cache.slices({ namespace })]
    .flat()
    .filter(({ selectable }) => selectable.labels?.[label] === component)
    .map(({ name }) => name)
  for (const name of names) {
    const lease = getCached(leases, { namespace, name }) as Lease | undefined
    if (lease === undefined || !isExpired(lease, now)) continue
    const { uid, resourceVersion } = lease.metadata
    // If the owner renews its Lease at the same moment, this precondition fails, and the loop checks the Lease again.
    const options = {
      preconditions: [{ uid, resourceVersion }],
      gracePeriodSeconds: undefined,
      propagation: undefined,
    }
    await ignoreNotFound(deleteObject(contextOf(leases, namespace, 'DeleteOptions'), name, options))
  }
}

/**
 * Returns whether a Lease has expired. A Lease without a renewal time or duration counts as expired, because every
 * server sets both fields.
 */
function isExpired({ spec }: Lease, now: number): boolean {
  if (spec?.renewTime === undefined || spec.leaseDurationSeconds === undefined) return true
  return Date.parse(spec.renewTime) + spec.leaseDurationSeconds * 1000 < now
}
