/** Default roles in system namespaces. */
import {
  type DefaultRole,
  type DefaultRule,
  events,
  on,
  role,
  since,
  until,
  withResourceNames,
} from './role-builders.ts'

/** Permissions for leader election, which uses ConfigMaps in early versions and Leases in later versions. */
function leaderLocking(component: string): readonly DefaultRule[] {
  return [
    until('1.35', on('watch', 'core', 'configmaps')),
    withResourceNames([component], until('1.35', on('get update', 'core', 'configmaps'))),
    since('1.31', on('create get list update watch', 'coordination', 'leases')),
    since('1.31', on('create get list update watch', 'coordination', 'leasecandidates')),
  ]
}

export const namespacedRoles: readonly DefaultRole[] = [
  role(
    'system:controller:bootstrap-signer',
    [
      on('get list watch', 'core', 'configmaps'),
      withResourceNames(['cluster-info'], on('update', 'core', 'configmaps')),
      events,
    ],
    { namespace: 'kube-public' },
  ),
  role(
    'extension-apiserver-authentication-reader',
    [withResourceNames(['extension-apiserver-authentication'], on('get list watch', 'core', 'configmaps'))],
    { namespace: 'kube-system' },
  ),
  role('system::leader-locking-kube-controller-manager', leaderLocking('kube-controller-manager'), {
    namespace: 'kube-system',
  }),
  role('system::leader-locking-kube-scheduler', leaderLocking('kube-scheduler'), { namespace: 'kube-system' }),
  role('system:controller:bootstrap-signer', [on('get list watch', 'core', 'secrets')], { namespace: 'kube-system' }),
  role('system:controller:cloud-provider', [on('create get list watch', 'core', 'configmaps')], {
    namespace: 'kube-system',
  }),
  role('system:controller:token-cleaner', [on('delete get list watch', 'core', 'secrets'), events], {
    namespace: 'kube-system',
  }),
]
