// Search, colors and the Kubernetes version in commands. The user's choices are stored in the browser.
const { top: siteTop } = document.documentElement.dataset
const byId = (id) => document.getElementById(id)

/** The stored settings. Some browsers do not store settings for pages from a file system. */
const settings = {
  read(name) {
    try {
      return localStorage.getItem(`orch-docs-${name}`) ?? ''
    } catch {
      return ''
    }
  },
  write(name, value) {
    try {
      localStorage.setItem(`orch-docs-${name}`, value)
    } catch {
      // The choice applies only to this page.
    }
  },
}

function setUpTheme() {
  const root = document.documentElement
  if (settings.read('theme') !== '') root.dataset.theme = settings.read('theme')
  byId('theme').addEventListener('click', () => {
    const isDark = getComputedStyle(root).colorScheme === 'dark'
    root.dataset.theme = isDark ? 'light' : 'dark'
    settings.write('theme', root.dataset.theme)
  })
}

/** Replaces the Kubernetes version in the commands and examples of the page. */
function setUpVersion() {
  const version = byId('version')
  const blocks = [...document.querySelectorAll('main pre code')].map((block) => [block, block.textContent])
  const show = () => {
    for (const [block, text] of blocks)
      block.textContent = text.replaceAll(/(emulated-version[= ]|emulatedVersion: ')1\.\d\d/g, (whole, flag) =>
        version.value === '' ? whole : flag + version.value,
      )
  }
  version.value = settings.read('version')
  version.addEventListener('change', () => {
    settings.write('version', version.value)
    show()
  })
  show()
}

/** When a server serves the site, its content security policy allows scripts only from this Trusted Types policy. */
const trustedUrls = globalThis.trustedTypes?.createPolicy('orch-docs', { createScriptURL: indexUrl })

function indexUrl() {
  return `${siteTop}/assets/search-index.js`
}

let loading
/** Loads the index when it is first needed. Loading it as a script also works for pages from a file system. */
function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = trustedUrls?.createScriptURL('') ?? indexUrl()
    script.onload = () => resolve(globalThis.searchIndex)
    script.onerror = () => reject(new Error('the search index is missing'))
    document.head.append(script)
  })
  return loading
}

const maxResults = 20

/** Returns the sections that contain all words. Matches in a title come first. */
function find(sections, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const scored = sections.flatMap((section) => {
    const title = `${section.page} ${section.title}`.toLowerCase()
    const text = section.text.toLowerCase()
    if (!words.every((word) => title.includes(word) || text.includes(word))) return []
    return [{ section, score: words.filter((word) => title.includes(word)).length }]
  })
  return scored.sort((a, b) => b.score - a.score).slice(0, maxResults)
}

function setUpSearch() {
  const input = byId('search')
  const results = byId('results')
  const show = async () => {
    const found = find(await loadIndex(), input.value)
    results.replaceChildren(
      ...found.map(({ section }) => {
        const link = document.createElement('a')
        link.href = `${siteTop}/${section.url}`
        link.textContent = section.page === section.title ? section.title : `${section.page}: ${section.title}`
        const item = document.createElement('li')
        item.append(link)
        return item
      }),
    )
    results.hidden = found.length === 0
    byId('count').textContent = input.value === '' ? '' : `${found.length} results`
  }
  input.addEventListener('input', show)
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') results.hidden = true
  })
}

setUpTheme()
setUpVersion()
setUpSearch()
if (matchMedia('(max-width: 50rem)').matches) document.querySelector('nav details').open = false
