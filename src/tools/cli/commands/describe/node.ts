/** The description of a Node: its state, its capacity, its pods and their resource requests. */

import type { Node } from '../../../../api/kinds/core/node.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { addQuantities, formatQuantity, parseQuantity, type Quantity } from '../../../../api/model/quantity.ts'
import { usageOf } from '../../../../api/model/quota/usage.ts'
import { humanDuration } from '../../../../base/time/human-duration.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../../client/requests/resource-type.ts'
import { StatusError } from '../../../../client/requests/status-error.ts'
import type { Session } from '../../connection/session.ts'
import { annotationsText, labelsText, multiline } from './fields.ts'
import { conditionsText, lines, quantitiesText, table, timeText } from './parts.ts'

export async function describeNode(node: Node, session: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = node
  const roles = Object.keys(metadata.labels ?? {}).flatMap((key) => /^node-role\.[^/]+\/(.+)$/.exec(key)?.[1] ?? [])
  const taints = (spec.taints ?? []).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
  return [
    lines({ Name: metadata.name ?? '', Roles: roles.join(',') || '<none>' }),
    labelsText(node),
    annotationsText(node),
    lines({ CreationTimestamp: timeText(metadata.creationTimestamp) }),
    multiline('Taints', taints),
    lines({ Unschedulable: spec.unschedulable ?? false }),
    await leaseText(node, session),
    conditionsText(status.conditions),
    addressesText(status.addresses),
    quantitiesText('Capacity', status.capacity, ''),
    quantitiesText('Allocatable', status.allocatable, ''),
    systemText(status.nodeInfo),
    lines({
      PodCIDR: spec.podCIDR || undefined,
      PodCIDRs: spec.podCIDRs?.length ? spec.podCIDRs.join(',') : undefined,
      ProviderID: spec.providerID || undefined,
    }),
    podsText(await podsOn(node, session), status.allocatable ?? status.capacity ?? {}),
  ].join('')
}

/**
 * Describes the Lease that the node agent renews as a heartbeat. Returns '' if the Lease is missing or the user may not
 * read it.
 */
async function leaseText({ metadata }: Node, { client, context, types }: Session): Promise<string> {
  const type = inDomainOf(await types.vendor(), kinds.Lease)
  const name = { namespace: 'kube-node-lease', name: metadata.name ?? '' }
  const lease = await client.get(type, name, { signal: context.signal }).catch((error: unknown) => {
    if (error instanceof StatusError) return undefined
    throw error
  })
  if (lease === undefined) return ''
  const { holderIdentity = '<unset>', acquireTime, renewTime } = lease.spec ?? {}
  return `Lease:\n${lines({ HolderIdentity: holderIdentity, AcquireTime: timeText(acquireTime), RenewTime: timeText(renewTime) }, '  ')}`
}

function addressesText(addresses: NonNullable<Node['status']>['addresses']): string {
  if (addresses === undefined || addresses.length === 0) return 'Addresses:\t<none>\n'
  return `Addresses:\n${addresses.map(({ type, address }) => `  ${type}:\t${address}\n`).join('')}`
}

function systemText(info: NonNullable<Node['status']>['nodeInfo']): string {
  if (info === undefined) return ''
  const rows = {
    'Machine ID': info.machineID,
    'System UUID': info.systemUUID,
    'Boot ID': info.bootID,
    'Kernel Version': info.kernelVersion,
    'OS Image': info.osImage,
    'Operating System': info.operatingSystem,
    Architecture: info.architecture,
    'Container Runtime Version': info.containerRuntimeVersion,
    'Kubelet Version': info.kubeletVersion,
    'Kube-Proxy Version': info.kubeProxyVersion,
  }
  return `System Info:\n${lines(rows, '  ')}`
}

interface PodOnNode {
  readonly pod: Pod
  /** Requested or limited amounts, by resource name such as `requests.cpu`. */
  readonly usage: ReadonlyMap<string, Quantity>
}

async function podsOn({ metadata }: Node, { client, context, types }: Session): Promise<PodOnNode[]> {
  const running = `spec.nodeName=${metadata.name},status.phase!=Succeeded,status.phase!=Failed`
  const [{ items }, vendor] = await Promise.all([
    client.list(kinds.Pod, { fieldSelector: running, signal: context.signal }),
    types.vendor(),
  ])
  const now = Date.now()
  return items.map((pod) => ({ pod, usage: usageOf(kinds.Pod, pod, { vendor, now }) }))
}

const columns = ['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'] as const
const headings = ['Namespace', 'Name', 'CPU Requests', 'CPU Limits', 'Memory Requests', 'Memory Limits', 'Age']

function podsText(podsOnNode: readonly PodOnNode[], available: { readonly [resource: string]: string }): string {
  const rows = podsOnNode.map(({ pod: { metadata }, usage }) => [
    ...[metadata.namespace ?? '', metadata.name ?? ''],
    ...columns.map((column) => shareText(usage.get(column), available[column.split('.')[1]!])),
    humanDuration(Date.now() - Date.parse(metadata.creationTimestamp ?? '')),
  ])
  const podTable = rows.length === 0 ? '' : table(headings, rows)
  return `Non-terminated Pods:\t(${rows.length} in total)\n${podTable}${sumsText(podsOnNode, available)}`
}

/** Formats the sums of all requests and of all limits. The limits may exceed the capacity. */
function sumsText(podsOnNode: readonly PodOnNode[], available: { readonly [resource: string]: string }): string {
  const resources = new Set(['cpu', 'memory', 'ephemeral-storage', ...Object.keys(available)])
  resources.delete('pods')
  const rows = [...resources].map((resource) => [
    resource,
    ...['requests', 'limits'].map((side) => shareText(sumOf(podsOnNode, `${side}.${resource}`), available[resource])),
  ])
  return `Allocated resources:\n${table(['Resource', 'Requests', 'Limits'], rows)}`
}

function sumOf(podsOnNode: readonly PodOnNode[], name: string): Quantity | undefined {
  const amounts = podsOnNode.flatMap(({ usage }) => usage.get(name) ?? [])
  return amounts.length === 0 ? undefined : amounts.reduce(addQuantities)
}

/** Formats an amount and its share of the capacity, for example `100m (2%)`. */
function shareText(amount: Quantity | undefined, available: string | undefined): string {
  const whole = available === undefined ? undefined : parseQuantity(available)
  const share = amount === undefined || !whole?.nanos ? 0n : (amount.nanos * 100n) / whole.nanos
  return `${amount === undefined ? '0' : formatQuantity(amount)} (${share}%)`
}
