/** The way to every page: the work pages, and all kinds that are served, by their groups. */
import { useMemo } from 'preact/hooks'
import { type Type, useSurroundings } from '../core/kinds.ts'
import { listAddress, type Route } from '../core/route.ts'
import { shown } from '../core/text.ts'
import icon from '../icon.svg'

const work: readonly (readonly [path: string, title: string])[] = [
  ['', 'Overview'],
  ['operations/map', 'Nodes and pods'],
  ['operations/certificates', 'Certificate requests'],
  ['operations/access', 'Access'],
  ['operations/admission', 'Admission'],
  ['operations/namespaces', 'Namespaces'],
  ['operations/quotas', 'Quotas'],
]

export function SideBar({ at }: { readonly at: Route }) {
  const { kinds } = useSurroundings()
  const { types, known } = kinds.store.value
  const groups = useMemo(() => groupsOf(types), [types])
  const here = at.path.join('/')
  return (
    <nav class="side-bar" aria-label="Pages">
      <a class="brand" href="#/">
        <img src={icon} alt="" width="24" height="24" />
        <span>orch</span>
      </a>
      <ul>
        {work.map(([path, title]) => (
          <li key={path}>
            <a href={`#/${path}`} aria-current={here === path ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
      <h2>Resources</h2>
      {!known && <p class="hint">Asking the server…</p>}
      {[...groups].map(([group, members]) => (
        <details key={group} open={group === '' || group === 'apps' || members.some((type) => isHere(type, at))}>
          <summary>{group === '' ? 'core' : shown(group, 60)}</summary>
          <ul>
            {members.map((type) => (
              <li key={type.plural}>
                <a href={listAddress(type)} aria-current={isHere(type, at) ? 'page' : undefined}>
                  {shown(type.kind, 60)}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  )
}

function isHere({ group, plural }: Type, { path }: Route): boolean {
  return (path[0] === 'list' || path[0] === 'object') && path[1] === (group || 'core') && path[3] === plural
}

/** Those that can be listed; the groups of most users first. */
function groupsOf(types: readonly Type[]): Map<string, Type[]> {
  const groups = new Map<string, Type[]>([
    ['', []],
    ['apps', []],
    ['batch', []],
  ])
  for (const type of types) {
    if (!type.verbs.includes('list')) continue
    const members = groups.get(type.group) ?? []
    members.push(type)
    groups.set(type.group, members)
  }
  for (const [group, members] of groups)
    if (members.length === 0) groups.delete(group)
    else members.sort((a, b) => (a.kind < b.kind ? -1 : 1))
  return groups
}
