/** The frame of the page, which contains the user, the sidebar and the page of the current route. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ConsoleContextProvider, Kinds } from '../core/kinds.ts'
import { type Route, route } from '../core/route.ts'
import { forgetSchemas } from '../core/schema.ts'
import { connection, type SignedIn, session, signOut } from '../core/session.ts'
import { useStore } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import { toggleTheme } from '../core/theme.ts'
import { workPages } from '../operations/all.ts'
import { HealthPage } from '../operations/health.tsx'
import { Notice, PageHead } from '../parts/display.tsx'
import { Icon } from '../parts/icon.tsx'
import { BrowsePage } from './browse.tsx'
import { ObjectPage } from './object.tsx'
import { Palette } from './palette.tsx'
import { SideBar } from './side-bar.tsx'
import { SignIn } from './sign-in.tsx'

export function App() {
  const { session: signedIn, notice } = useStore(session)
  return signedIn === undefined ? <SignIn notice={notice} /> : <Frame key={signedIn.user} signedIn={signedIn} />
}

function Frame({ signedIn }: { readonly signedIn: SignedIn }) {
  const consoleContext = useMemo(() => {
    const { client, openSocket } = signedIn
    return { client, openSocket, kinds: new Kinds(client) }
  }, [signedIn])
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const at = useStore(route)
  useEffect(() => {
    const aborting = new AbortController()
    consoleContext.kinds.follow(aborting.signal)
    const unsubscribe = consoleContext.kinds.store.subscribe(() => forgetSchemas(consoleContext.client))
    return () => {
      unsubscribe()
      aborting.abort()
    }
  }, [consoleContext])
  useKey(
    (event) => (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k',
    () => setPaletteOpen(true),
  )
  const place = at.path.join('/')
  const main = useFocusOn(place)
  useEffect(() => setMenuOpen(false), [place])
  return (
    <ConsoleContextProvider.Provider value={consoleContext}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <div class={isMenuOpen ? 'frame menu-open' : 'frame'}>
        <TopBar
          signedIn={signedIn}
          onMenu={() => setMenuOpen(!isMenuOpen)}
          onPalette={() => setPaletteOpen(true)}
          isMenuOpen={isMenuOpen}
        />
        <SideBar at={at} />
        <main id="main" ref={main} tabIndex={-1}>
          <Connection />
          <Page at={at} key={pageKey(at)} />
        </main>
      </div>
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
    </ConsoleContextProvider.Provider>
  )
}

interface TopBarProps {
  readonly signedIn: SignedIn
  readonly isMenuOpen: boolean
  readonly onMenu: () => void
  readonly onPalette: () => void
}

function TopBar({ signedIn, onMenu, onPalette, isMenuOpen }: TopBarProps) {
  return (
    <header class="top-bar">
      <button type="button" class="plain menu-button" aria-label="Menu" aria-expanded={isMenuOpen} onClick={onMenu}>
        <Icon name="menu" />
      </button>
      <button type="button" class="jump" onClick={onPalette} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span>Jump to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      <span class="spacer" />
      <button type="button" class="plain" aria-label="Switch between light and dark" onClick={toggleTheme}>
        <Icon name="sun" />
      </button>
      <span
        class="who"
        title={`${signedIn.groups.map((group) => displayText(group, 100)).join(', ')} (by ${signedIn.way})`}
      >
        {displayText(signedIn.user, 60)}
      </span>
      <button type="button" class="quiet" onClick={() => signOut()}>
        Sign out
      </button>
    </header>
  )
}

function Connection() {
  if (useStore(connection) === 'connected') return null
  return (
    <Notice tone="warn" title="The server does not answer">
      What is shown may be out of date. The page goes on by itself when the server is back.
    </Notice>
  )
}

/**
 * Returns a key that identifies the page but not its filters and tabs, so that changing those does not remount the
 * page.
 */
function pageKey({ path }: Route): string {
  return path.join('/')
}

function Page({ at: { path } }: { readonly at: Route }) {
  const [kind = '', group = '', version = '', plural = '', namespace = '', name = ''] = path
  const place = { group: group === 'core' ? '' : group, version, plural }
  if (kind === '') return <HealthPage />
  if (kind === 'list' && path.length === 4) return <BrowsePage place={place} />
  if (kind === 'object' && path.length === 6)
    return <ObjectPage place={place} name={namespace === '-' ? { name } : { namespace, name }} />
  const work = kind === 'operations' ? workPages.find((page) => page.name === group) : undefined
  return work === undefined ? <Nowhere /> : <work.Page />
}

function Nowhere() {
  return (
    <>
      <PageHead title="Nothing here" />
      <Notice title="This address names no page of the console" tone="warn">
        <a href="#/">Go to the overview</a>
      </Notice>
    </>
  )
}

/** Moves the focus to the title of a new page once the page is rendered. */
function useFocusOn(place: string) {
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) main.current?.querySelector('h1')?.focus()
    isFirst.current = false
    main.current?.scrollTo(0, 0)
  }, [place])
  return main
}

function useKey(isWanted: (event: KeyboardEvent) => boolean, run: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isWanted(event)) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
