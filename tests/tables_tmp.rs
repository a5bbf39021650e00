use jarmo::games::web::Web;
use jarmo::tables::{index::Layer, lines::Lines, solve::*, code::Exact};
struct W(std::time::Instant);
impl Watch for W { fn filled(&mut self,_:usize){} fn stepped(&mut self,s:&Unfinished,n:u64)->std::io::Result<()>{ eprintln!("  step {} {} {:.2}",s.next-1,n,self.0.elapsed().as_secs_f64()); Ok(()) } }
#[test]
fn timing() {
    let most: u32 = std::env::var("F").unwrap().parse().unwrap();
    let lines = Lines::of(&Web::standard()).unwrap();
    let mut done: Vec<Vec<u8>> = vec![];
    for f in 2..=most {
        let layer = Layer::new(f);
        let mut lower = Layers::default();
        for d in &done { lower.push(d); }
        let t = std::time::Instant::now();
        let s = Solver::new(&lines, &layer, &lower);
        let st = s.start(&mut ()).unwrap();
        let t1 = t.elapsed();
        let mut w = W(t);
        let b = if f==most { s.finish(st, &mut w).unwrap() } else { s.finish(st, &mut ()).unwrap() };
        let mut n=[0u64;3]; let mut lw=0; let mut ll=0;
        for &x in &b { match Exact::from_byte(x) { Exact::Win(0)|Exact::Loss(0)|Exact::OverDrawn=>{}, Exact::Win(d)=>{n[0]+=1; lw=lw.max(d)}, Exact::Loss(d)=>{n[2]+=1;ll=ll.max(d)}, Exact::Draw=>n[1]+=1 } }
        eprintln!("force {f}: {} actions {} most {} first {:?} all {:?} W{} D{} L{} longest win {lw} loss {ll}", layer.len(), lines.most_actions(), 0, t1, t.elapsed(), n[0],n[1],n[2]);
        done.push(b);
    }
}
