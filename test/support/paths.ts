/** Paths of objects whose kind does not matter to a test, because no component acts on them. */

export const configMaps = '/api/v1/namespaces/default/configmaps'
