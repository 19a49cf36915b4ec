/** The namespaces that the system itself uses. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']
