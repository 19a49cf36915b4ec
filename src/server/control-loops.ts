/**
 * The control loops of `orch up`: each with a client of its own into the server of this process, as the service
 * account that is its identity. Here they are joined with what they need; what they do is in `controllers/`.
 */
import { controllerRoles } from '../authz/rbac/defaults/controller-roles.ts'
import { systemClock } from '../base/clock.ts'
import { Client } from '../client/client.ts'
import { Informer } from '../client/informer.ts'
import { type ResourceType, type Selection, typeName } from '../client/resource-type.ts'
import { clusterRoleAggregationLoop, clusterRoles } from '../controllers/cluster-role-aggregation.ts'
import { namespaceLoop, namespaces } from '../controllers/namespace.ts'
import { resourceQuotaLoop, resourceQuotas } from '../controllers/resource-quota.ts'
import { serviceAccountLoop, serviceAccounts } from '../controllers/service-account.ts'
import { secrets, tokenSecretLoop, tokenSecretType } from '../controllers/service-account-secret.ts'
import { claimProtectionLoop, claims, volumeProtectionLoop, volumes } from '../controllers/storage-protection.ts'
import type { ApiObject } from '../model/object.ts'
import { claimProtection, volumeProtection } from '../model/protection.ts'
import { serviceAccountGroups, serviceAccountName, type User } from '../model/user.ts'
import { type Vendor, vendorOf } from '../model/vendor.ts'
import { type Loop, type RunningLoops, startLoops } from '../reconcile/loop.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { systemNamespace } from '../upkeep/system-objects.ts'
import type { ApiServer } from './api-server.ts'
import type { ServerOptions, UpOptions } from './flags/options.ts'

export function startControlLoops(server: ApiServer, options: ServerOptions & UpOptions, log: Log): RunningLoops {
  const vendor = vendorOf(options.profile)
  const ofManager = clientAs(server, manager, vendor.managers.loops ?? manager.name)
  const informerOf = informersOf(ofManager, log)
  const [ofNamespaces, ofAccounts] = [informerOf(namespaces), informerOf(serviceAccounts)]
  return startLoops(
    [
      namespaceLoop({
        client: clientOf(server, vendor, 'namespace-controller'),
        informer: ofNamespaces,
        finalizer: vendor.namespaceFinalizer,
        clock: systemClock,
      }),
      serviceAccountLoop({
        client: clientOf(server, vendor, 'service-account-controller'),
        namespaces: ofNamespaces,
        accounts: ofAccounts,
      }),
      tokenSecretLoop({
        client: ofManager,
        vendor,
        secrets: informerOf(secrets, { fieldSelector: `type=${tokenSecretType(vendor)}` }),
        accounts: ofAccounts,
        authority: () => server.authority,
        issue: (token) => server.issueLegacyToken(token),
      }),
      ...protectionLoops(server, vendor, informerOf),
      clusterRoleAggregationLoop({
        client: clientOf(server, vendor, 'clusterrole-aggregation-controller'),
        informer: informerOf(clusterRoles(vendor)),
      }),
      resourceQuotaLoop({
        client: clientOf(server, vendor, 'resourcequota-controller'),
        informer: informerOf(resourceQuotas),
        vendor,
        clock: systemClock,
        quietMs: options.resourceQuotaSyncPeriod,
        ...(options.etcdServers.length === 0
          ? { whileStill: (namespace, run) => server.quotaActivity.whileStill(namespace, run) }
          : {}),
      }),
    ],
    server.loopRecords,
  )
}

/** Who follows what happens for all loops: it may see everything, and change little: accounts and their secrets. */
const manager: User = { name: 'system:kube-controller-manager', uid: '', groups: [], extra: new Map() }

type InformerOf = <T extends ApiObject>(type: ResourceType<T>, selection?: Selection) => Informer<T>

function informersOf(client: Client, log: Log): InformerOf {
  return (type, selection = {}) =>
    new Informer(client, type, {
      selection,
      onError: (error) =>
        log.error('an informer lost its watch; it is resumed', { type: typeName(type), ...errorFields(error) }),
    })
}

function protectionLoops(server: ApiServer, vendor: Vendor, informerOf: InformerOf): Loop[] {
  const ofClaims = clientOf(server, vendor, 'pvc-protection-controller')
  const ofVolumes = clientOf(server, vendor, 'pv-protection-controller')
  return [
    claimProtectionLoop({
      client: ofClaims,
      informer: informerOf(claims),
      finalizer: claimProtection(vendor),
    }),
    volumeProtectionLoop({
      client: ofVolumes,
      informer: informerOf(volumes),
      finalizer: volumeProtection(vendor),
    }),
  ]
}

function clientOf(server: ApiServer, { managers }: Vendor, name: string): Client {
  return clientAs(server, serviceAccount(name), managers.loops ?? name)
}

/** The user agent names the owner of the fields that are written. */
function clientAs(server: ApiServer, user: User, userAgent: string): Client {
  return new Client(server.transport(user), { userAgent })
}

/** The default roles grant each loop what it needs and no more (`authz/rbac/defaults/controller-roles.ts`). */
function serviceAccount(name: string): User {
  if (!controllerRoles.some((role) => role.name === `system:controller:${name}`))
    throw new Error(`the control loop ${name} has no role: add one to authz/rbac/defaults/controller-roles.ts`)
  const groups = serviceAccountGroups(systemNamespace)
  return { name: serviceAccountName(systemNamespace, name), uid: '', groups, extra: new Map() }
}
