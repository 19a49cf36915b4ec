/** Where tests put objects that stand for any: kinds that nothing acts on. */

export const configMaps = '/api/v1/namespaces/default/configmaps'
