/** Commands that users of kubectl know and that are not built here: they are told so, and not that they misspelt. */
const names = new Set([
  ...[
    'attach',
    'autoscale',
    'cordon',
    'cp',
    'debug',
    'drain',
    'exec',
    'expose',
    'kustomize',
    'logs',
    'options',
    'plugin',
  ],
  ...['port-forward', 'proxy', 'run', 'taint', 'top', 'uncordon'],
  ...['auth reconcile'],
  ...['certificate csr', 'config delete-cluster', 'config delete-context', 'config delete-user', 'config get-clusters'],
  ...['config get-users', 'config rename-context', 'config set', 'config unset', 'create service'],
])

/** Whether the words name such a command: `logs`, `auth reconcile`. */
export function isNotBuilt(words: string): boolean {
  return names.has(words)
}
