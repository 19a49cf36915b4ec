/** The sidebar, with links to the work pages and to the served kinds by category. */
import { useMemo } from 'preact/hooks'
import { byCategory } from '../core/kind-categories.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { listAddress, type Route } from '../core/route.ts'
import { useAsked } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import icon from '../icon.svg'
import { workPages } from '../operations/all.ts'

const links: readonly (readonly [path: string, title: string])[] = [
  ['', 'Overview'],
  ...workPages.map(({ name, title }) => [`operations/${name}`, title] as const),
]

export function SideBar({ at }: { readonly at: Route }) {
  const { kinds } = useConsoleContext()
  const { types, isLoaded, domain } = kinds.store.value
  const groups = useMemo(() => byCategory(types, domain), [types, domain])
  const currentPath = at.path.join('/')
  return (
    <nav class="side-bar" aria-label="Pages">
      <a class="brand" href="#/">
        <img src={icon} alt="" width="24" height="24" />
        <span>orch</span>
      </a>
      <ul>
        {links.map(([path, title]) => (
          <li key={path}>
            <a href={`#/${path}`} aria-current={currentPath === path ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
        <DocumentationLink />
      </ul>
      <h2>Resources</h2>
      {!isLoaded && <p class="hint">Asking the server…</p>}
      {[...groups].map(([category, members]) => (
        <details key={category} open={category === 'Workloads' || members.some((type) => isHere(type, at))}>
          <summary>{category}</summary>
          <ul>
            {members.map((type) => (
              <li key={`${type.group}/${type.plural}`}>
                <a
                  href={listAddress(type)}
                  aria-current={isHere(type, at) ? 'page' : undefined}
                  title={displayText(type.group || 'core', 100)}
                >
                  {displayText(type.kind, 60)}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  )
}

/** Links to the documentation in a new tab, because leaving the console would sign the user out. */
function DocumentationLink() {
  const settings = useAsked(readSettings, [])
  if (settings.state !== 'done' || !settings.value.hasDocumentation) return null
  return (
    <li>
      <a href="/docs/docs/README.html" target="_blank" rel="noopener">
        Documentation
      </a>
    </li>
  )
}

async function readSettings(signal: AbortSignal): Promise<{ readonly hasDocumentation: boolean }> {
  const response = await fetch('settings', { signal })
  return (await response.json()) as { hasDocumentation: boolean }
}

function isHere({ group, plural }: Type, { path }: Route): boolean {
  return (path[0] === 'list' || path[0] === 'object') && path[1] === (group || 'core') && path[3] === plural
}
