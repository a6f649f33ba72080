import { render } from 'preact'
import { startEvents } from './data/events.ts'
import { startList } from './data/session-list.ts'
import './style.css'
import { App } from './views/app.tsx'

startList()
startEvents()
const root = document.getElementById('page')
if (root !== null) render(<App />, root)
