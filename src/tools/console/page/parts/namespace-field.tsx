/**
 * The field that selects the namespace of a page. The namespace is part of the URL. Users select it from a list or, if
 * they may not list namespaces, type it.
 */
import { useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { route, setQuery } from '../core/route.ts'
import { useStore } from '../core/store.ts'
import { displayText } from '../core/text.ts'

/** Returns the namespace in the URL, or '' for all namespaces. */
export function useNamespace(): string {
  return useStore(route).query.get('namespace') ?? ''
}

export function NamespaceField() {
  const { kinds } = useConsoleContext()
  const namespace = useNamespace()
  const { objects, error } = useObjects(kinds.builtIn('namespaces', ''))
  const choose = (value: string) => setQuery({ namespace: value.trim() })
  const names = new Set(objects.map(({ metadata }) => metadata.name ?? '').sort())
  if (namespace !== '') names.add(namespace)
  return (
    <label for="namespace">
      <span>Namespace</span>
      {error === undefined ? (
        <select id="namespace" value={namespace} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value="">All</option>
          {[...names].map((each) => (
            <option key={each} value={each}>
              {displayText(each, 80)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id="namespace"
          value={namespace}
          spellcheck={false}
          placeholder="all; or the name of one"
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        />
      )}
    </label>
  )
}
