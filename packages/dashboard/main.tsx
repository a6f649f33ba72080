import { render } from 'preact'
import { followAttempts } from './data/attempt-text.ts'
import { startEvents } from './data/events.ts'
import { startOutboxes } from './data/outbox.ts'
import { startList } from './data/session-list.ts'
import './style/base.css'
import './style/frame.css'
import './style/marks.css'
import './style/chart.css'
import './style/sessions.css'
import './style/activity.css'
import './style/conversation.css'
import './style/markdown.css'
import './style/context.css'
import './style/compactions.css'
import './style/health.css'
import './style/memory.css'
import './style/screens.css'
import { App } from './views/app.tsx'

startList()
followAttempts()
startEvents()
startOutboxes()
const root = document.getElementById('page')
if (root !== null) render(<App />, root)
