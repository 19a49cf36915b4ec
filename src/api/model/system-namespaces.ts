/** The namespaces that the cluster itself uses. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']
