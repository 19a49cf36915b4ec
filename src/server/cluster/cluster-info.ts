/**
 * Lets nodes with a bootstrap token join the cluster of `orch up`. Creates the ConfigMap `cluster-info`, which contains
 * the address and CA of the cluster, in the public namespace. Every user can read this ConfigMap. Also creates the
 * bindings that allow bootstrap tokens to obtain a node agent certificate, and node agents to renew their certificates.
 *
 * A server with its own store keeps the ConfigMap up to date. Servers that share a store have different addresses, so
 * they preserve an existing address unless a flag specifies one. Existing bindings are not changed.
 */

import { clusterInfo, joinGroup } from '../../api/model/bootstrap-token.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { authenticatedUsers, nodesGroup, superusers, type User, unauthenticatedUsers } from '../../api/model/user.ts'
import { groupName, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { errorFields } from '../../base/telemetry/log.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import { Informer } from '../../client/informers/informer.ts'
import { type RunningLoops, startLoops } from '../../client/reconcile/loop.ts'
import { every, fromInformer } from '../../client/reconcile/sources.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import { type Draft, inDomainOf, type ResourceType } from '../../client/requests/resource-type.ts'
import { StatusError } from '../../client/requests/status-error.ts'
import { ignoreNotFound } from '../../cluster/controllers/ignore-not-found.ts'
import type { ApiServer } from '../assembly/api-server.ts'
import type { ServerOptions } from '../flags/options.ts'
import type { UpOptions } from '../flags/up.ts'

/** Interval, in milliseconds, at which the server checks whether its CA has been replaced. */
const recheckMs = 60_000
const self: User = { name: 'system:apiserver', uid: '', groups: [superusers], extra: new Map() }

/** Maintains the ConfigMap that provides joining clients with the address and CA of this cluster. */
export function startClusterInfo(server: ApiServer, options: ServerOptions & UpOptions): RunningLoops {
  const vendor = vendorOf(options.profile)
  const client = new Client(server.transport(self), { userAgent: vendor.managers.server })
  const { log } = server.loopRecords
  const informer = new Informer(client, kinds.ConfigMap, {
    selection: { namespace: clusterInfo.namespace, fieldSelector: `metadata.name=${clusterInfo.name}` },
    streamingLists: false,
    onError: (error) => log.error('lost the watch on cluster-info; resuming', errorFields(error)),
  })
  const keepsAddress = options.etcdServers.length > 0 && options.clusterInfoServer === ''
  const desiredInfo = () => ({
    server: options.clusterInfoServer || server.advertisedUrl,
    authority: server.authority,
    keepsAddress,
    isMissing: informer.get(clusterInfo) === undefined,
  })
  // Bindings are created once per start. If a user deletes a binding, the next start creates it again.
  let missing = bindings(vendor)
  const loop = {
    name: 'cluster-info',
    sources: [fromInformer(informer), every(recheckMs, clusterInfo.name)],
    reconcile: async (_key: string, signal: AbortSignal) => {
      await keepConfigMap(client, desiredInfo(), signal)
      for (const { type, object } of missing) await createMissing(client, type, { object, signal })
      missing = []
      return 'done' as const
    },
  }
  return startLoops([loop], server.loopRecords)
}

interface WantedInfo {
  readonly server: string
  readonly authority: string
  /** Whether an address that is already in the ConfigMap takes precedence. */
  readonly keepsAddress: boolean
  readonly isMissing: boolean
}

async function keepConfigMap(client: Client, desiredInfo: WantedInfo, signal: AbortSignal): Promise<void> {
  const kubeconfig = publicConfig(desiredInfo)
  const metadata = { ...clusterInfo }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubeconfig } }
  if (desiredInfo.isMissing) await createMissing(client, kinds.ConfigMap, { object, signal })
  const change = (currentConfigMap: typeof object & ApiObject) => {
    const now = currentConfigMap.data?.kubeconfig ?? ''
    const isTrue = desiredInfo.keepsAddress ? now.includes(base64(desiredInfo.authority)) : now === kubeconfig
    return isTrue ? undefined : { ...currentConfigMap, data: { ...currentConfigMap.data, kubeconfig } }
  }
  await ignoreNotFound(
    changeObject(client, kinds.ConfigMap as ResourceType<typeof object & ApiObject>, {
      name: clusterInfo,
      change,
      signal,
    }),
  )
}

/** Returns a kubeconfig that contains only the server's address and CA. */
function publicConfig({ server, authority }: WantedInfo): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: ""
  cluster:
    server: ${JSON.stringify(server)}
    certificate-authority-data: ${base64(authority)}
contexts: []
current-context: ""
users: []
`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

async function createMissing(
  client: Client,
  type: ResourceType,
  { object, signal }: { object: Draft<ApiObject>; signal: AbortSignal },
): Promise<void> {
  await client.create(type, object, { signal }).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
  })
}

interface Binding {
  readonly type: ResourceType
  readonly object: Draft<ApiObject>
}

function bindings(vendor: Vendor): Binding[] {
  const group = groupName(vendor, 'rbac.authorization')
  const toGroups = (...names: string[]) => names.map((name) => ({ kind: 'Group', apiGroup: group, name }))
  const make = (type: ResourceType, object: Draft<ApiObject>): Binding => ({ type: inDomainOf(vendor, type), object })
  const clusterWide = (name: string, role: string, member: string) => {
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: role }
    return make(kinds.ClusterRoleBinding, {
      metadata: { name },
      roleRef,
      subjects: toGroups(member),
    })
  }
  const requests = `system:${groupName(vendor, 'certificates')}:certificatesigningrequests`
  const metadata = { namespace: clusterInfo.namespace, name: 'orch:cluster-info' }
  const rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: [clusterInfo.name], verbs: ['get'] }
  const roleRef = { apiGroup: group, kind: 'Role', name: metadata.name }
  return [
    make(kinds.Role, { metadata, rules: [rule] }),
    make(kinds.RoleBinding, {
      metadata,
      roleRef,
      subjects: toGroups(authenticatedUsers, unauthenticatedUsers),
    }),
    clusterWide('orch:join-nodes', 'system:node-bootstrapper', joinGroup),
    clusterWide('orch:approve-joining-nodes', `${requests}:nodeclient`, joinGroup),
    clusterWide('orch:approve-renewing-nodes', `${requests}:selfnodeclient`, nodesGroup),
  ]
}
