/** The namespaces that belong to the system itself. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']
