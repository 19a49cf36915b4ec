/** Default roles in system namespaces. */
import { type DefaultRole, events, on, role, withResourceNames } from './role-builders.ts'

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
  role(
    'system::leader-locking-kube-controller-manager',
    [
      on('watch', 'core', 'configmaps'),
      withResourceNames(['kube-controller-manager'], on('get update', 'core', 'configmaps')),
    ],
    { namespace: 'kube-system' },
  ),
  role(
    'system::leader-locking-kube-scheduler',
    [on('watch', 'core', 'configmaps'), withResourceNames(['kube-scheduler'], on('get update', 'core', 'configmaps'))],
    { namespace: 'kube-system' },
  ),
  role('system:controller:bootstrap-signer', [on('get list watch', 'core', 'secrets')], { namespace: 'kube-system' }),
  role('system:controller:cloud-provider', [on('create get list watch', 'core', 'configmaps')], {
    namespace: 'kube-system',
  }),
  role('system:controller:token-cleaner', [on('delete get list watch', 'core', 'secrets'), events], {
    namespace: 'kube-system',
  }),
]
