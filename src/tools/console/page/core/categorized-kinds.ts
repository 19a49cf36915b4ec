/** Categories of kinds, in the order of the sidebar. */

export const categories = ['Workloads', 'Network', 'Storage', 'Configuration', 'Access', 'Cluster', 'Custom'] as const

export type Category = (typeof categories)[number]

/** Plural names of the stored kinds by category, in the order of the sidebar. */
export const plurals: { readonly [C in Exclude<Category, 'Custom'>]: readonly string[] } = {
  Workloads: [
    ...['pods', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs', 'replicasets'],
    ...['replicationcontrollers', 'horizontalpodautoscalers', 'poddisruptionbudgets', 'controllerrevisions'],
    ...['podtemplates', 'resourceclaims', 'resourceclaimtemplates'],
  ],
  Network: [
    ...['services', 'ingresses', 'networkpolicies', 'endpoints', 'endpointslices', 'ingressclasses', 'servicecidrs'],
    'ipaddresses',
  ],
  Storage: [
    ...['persistentvolumeclaims', 'persistentvolumes', 'storageclasses', 'volumeattachments', 'csidrivers'],
    ...['csinodes', 'csistoragecapacities', 'volumeattributesclasses'],
  ],
  Configuration: [
    ...['configmaps', 'secrets', 'resourcequotas', 'limitranges', 'priorityclasses', 'runtimeclasses', 'leases'],
    ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations', 'validatingadmissionpolicies'],
    ...['validatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
    'leasecandidates',
  ],
  Access: [
    ...['serviceaccounts', 'roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    ...['certificatesigningrequests', 'podsecuritypolicies', 'certificatedenylists', 'clustertrustbundles'],
    'podcertificaterequests',
  ],
  Cluster: [
    ...['namespaces', 'nodes', 'events', 'customresourcedefinitions', 'apiservices', 'flowschemas'],
    ...['prioritylevelconfigurations', 'deviceclasses', 'resourceslices', 'devicetaintrules', 'simulationrules'],
    'storageversionmigrations',
  ],
}
