/** Parses the pod selector of a cluster-scoped KWOK object, which matches by namespace and name. */
import type { Json } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { array, fields, text } from '../stages/fields.ts'

export type SelectsPod = (pod: Pick<Pod, 'metadata'>) => boolean

/** Reads a selector. A missing selector, or a selector with an empty list, matches all pods. Throws StageError. */
export function readPodSelector(value: Json | undefined): SelectsPod {
  const { matchNamespaces, matchNames } = fields(value ?? {}, 'spec.selector', ['matchNamespaces', 'matchNames'])
  const setOf = (list: Json | undefined, where: string) => new Set(array(list, where).map((each) => text(each, where)))
  const namespaces = setOf(matchNamespaces, 'spec.selector.matchNamespaces')
  const names = setOf(matchNames, 'spec.selector.matchNames')
  return ({ metadata: { namespace = '', name = '' } }) =>
    (namespaces.size === 0 || namespaces.has(namespace)) && (names.size === 0 || names.has(name))
}
