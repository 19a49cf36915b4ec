/**
 * Bindings of the default roles to their subjects. The role of a control loop is bound to the service account of that
 * loop.
 */
import { defined } from '../../../../api/json/json.ts'
import { controllerRoles } from './controller-roles.ts'
import { account, bind, type DefaultBinding, group, since, user } from './role-builders.ts'

const loopPrefix = 'system:controller:'

/** Binds the role of each control loop to the service account of the same name. */
export const loopBindings: readonly DefaultBinding[] = controllerRoles.map((role) => ({
  ...bind(role.name, [account(role.name.slice(loopPrefix.length))]),
  ...defined({ since: role.since, until: role.until, gate: role.gate }),
}))

export const clusterBindings: readonly DefaultBinding[] = [
  bind('cluster-admin', [group('system:masters')]),
  bind('system:basic-user', [group('system:authenticated')]),
  bind('system:discovery', [group('system:authenticated')]),
  bind('system:kube-controller-manager', [user('system:kube-controller-manager')]),
  bind('system:kube-dns', [account('kube-dns')]),
  bind('system:kube-scheduler', [user('system:kube-scheduler')]),
  bind('system:monitoring', [group('system:monitoring')]),
  bind('system:node', []),
  bind('system:node-proxier', [user('system:kube-proxy')]),
  bind('system:ops-basic-user', [group('system:authenticated')]),
  bind('system:public-info-viewer', [group('system:authenticated'), group('system:unauthenticated')]),
  bind('system:service-account-issuer-discovery', [group('system:serviceaccounts')]),
  bind('system:volume-scheduler', [user('system:kube-scheduler')]),
  // Kubernetes has no such binding. The csrapproving loop needs it to reject certificate requests for nodes that
  // already exist.
  bind('system:ops-node-liveness', [account('certificate-controller')]),
  // Kubernetes does not have this binding. Node agents and the loop simulation-rules read the rules of simulated
  // failures.
  bind('system:ops-simulation-rules', [group('system:nodes'), account('simulation-controller')]),
  bind('system:ops-simulated-objects', [account('simulation-controller')]),
  // Kubernetes does not have this binding. The built-in scheduler runs as a service account with the permissions of
  // kube-scheduler.
  bind('system:ops-kube-scheduler', [account('kube-scheduler')], { to: 'system:kube-scheduler' }),
  bind('system:ops-volume-scheduler', [account('kube-scheduler')], { to: 'system:volume-scheduler' }),
]

export const namespacedBindings: readonly DefaultBinding[] = [
  bind('system:controller:bootstrap-signer', [account('bootstrap-signer')], { namespace: 'kube-public' }),
  bind(
    'system::extension-apiserver-authentication-reader',
    [user('system:kube-controller-manager'), user('system:kube-scheduler')],
    { to: 'extension-apiserver-authentication-reader', namespace: 'kube-system' },
  ),
  bind(
    'system::leader-locking-kube-controller-manager',
    [
      user('system:kube-controller-manager'),
      account('kube-controller-manager'),
      since('1.31', account('leader-election-controller')),
    ],
    { namespace: 'kube-system' },
  ),
  bind('system::leader-locking-kube-scheduler', [user('system:kube-scheduler'), account('kube-scheduler')], {
    namespace: 'kube-system',
  }),
  bind('system:controller:bootstrap-signer', [account('bootstrap-signer')], { namespace: 'kube-system' }),
  bind('system:controller:cloud-provider', [account('cloud-provider')], { namespace: 'kube-system' }),
  bind('system:controller:token-cleaner', [account('token-cleaner')], { namespace: 'kube-system' }),
]
