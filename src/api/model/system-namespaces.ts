/** Namespaces that every cluster has for its own components. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']
