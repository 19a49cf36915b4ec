/** Paths of objects that stand for any kind, because nothing acts on them. */

export const configMaps = '/api/v1/namespaces/default/configmaps'
